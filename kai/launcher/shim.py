"""The small parent of one run, started by path with ``python -I -S``: ``shim.py CONTROL`` (a descriptor number)."""

import sys

if __name__ == "__main__":
    # Isolated as it is, it can import nothing of kai until the folder that holds the package is named; last on the
    # path, it can stand in for nothing of the standard library.
    sys.path.append(sys.argv[0].rpartition("/kai/launcher/")[0])
    from kai.launcher.keeper import main

    main(sys.argv[1:])
