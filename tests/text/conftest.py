"""A slow machine is no failure: what must be fast has a test of its own that measures it."""

from hypothesis import settings

settings.register_profile("kai", deadline=None)
settings.load_profile("kai")
