"""`StreamMode` bears the name of LangGraph's; it is `ChannelMode` now."""

from __future__ import annotations

import importlib

import pytest

from langgraph_once.events import ChannelConfig, ChannelMode


@pytest.mark.parametrize("module", ["langgraph_once", "langgraph_once.events"])
def test_the_old_name_of_channel_mode_still_works_and_says_the_new_one(module: str) -> None:
    found = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=rf"{module}.ChannelMode") as warned:
        old = found.StreamMode
    assert old is ChannelMode
    assert warned[0].filename == __file__
    assert ChannelConfig(key="notes", stream_mode=old.BOTH).stream_mode is ChannelMode.BOTH
    assert "StreamMode" not in found.__all__


@pytest.mark.parametrize("module", ["langgraph_once", "langgraph_once.events"])
def test_a_name_that_never_was_is_an_error_as_ever(module: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'Unheard'"):
        _ = importlib.import_module(module).Unheard
