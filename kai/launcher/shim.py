"""Started by path with ``python -I -S``: ``shim.py CONTROL`` (a descriptor number) is the small parent of one run,
``shim.py spawner …`` the privileged process that starts runs as other users.
"""

import sys

if __name__ == "__main__":
    # Isolated as it is, it can import nothing of kai until the folder that holds the package is named; last on the
    # path, it can stand in for nothing of the standard library.
    sys.path.append(sys.argv[0].rpartition("/kai/launcher/")[0])
    if sys.argv[1] == "spawner":
        from kai.launcher.spawner import serve

        sys.exit(serve(sys.argv[2:]))
    from kai.launcher.keeper import main

    main(sys.argv[1:])
