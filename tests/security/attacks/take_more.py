"""As A's agent: take more of the machine than it was given."""

import os
import resource
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[0].rpartition("/tests/")[0])
from tests.security.attacks.attempt import attempt

_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
attempt("more open files", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (hard + 1, hard + 1)))
attempt("never be chosen when memory ends", lambda: Path("/proc/self/oom_score_adj").write_text("-1000"))
attempt("go before everybody's processes", lambda: os.nice(-5))
attempt("write a setting of the kernel", lambda: Path("/proc/sys/kernel/hostname").write_text("mine"))
attempt("write a disk", lambda: os.open("/dev/mem", os.O_RDWR))
