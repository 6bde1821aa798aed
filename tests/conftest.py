"""Settings of all tests."""

from hypothesis import settings

# How long an example takes tells how busy the machine is; what must be quick is timed by `bench`.
settings.register_profile("langgraph-once", deadline=None)
settings.load_profile("langgraph-once")
