"""Property tests here have no deadline for one example: a busy machine is no defect."""

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
