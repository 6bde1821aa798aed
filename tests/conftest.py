"""Settings of all tests."""

import gc
from collections.abc import Generator

import pytest
from hypothesis import settings

# How long an example takes tells how busy the machine is; what must be quick is timed by `bench`.
settings.register_profile("langgraph-once", deadline=None)
settings.load_profile("langgraph-once")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: the collector of garbage need not walk over it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
