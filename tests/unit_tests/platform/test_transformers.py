"""The server's registry of v3 transformers has those of a wrapped graph's module."""

from __future__ import annotations

import importlib

import pytest

from langgraph_once.platform.startup import hand_on_transformers
from tests.integration_tests import transformed


def test_what_the_module_exports_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in ("REDIS_URI", "DATABASE_URI"):  # without, it is not imported
        monkeypatch.setenv(setting, "fake")
    known = importlib.import_module("langgraph_api.graph").GRAPH_STREAM_TRANSFORMERS
    hand_on_transformers("one", f"{transformed.__name__}:graph")
    hand_on_transformers("other", f"{__name__}:graph")
    assert known.pop("one") is transformed.stream_transformers
    assert "other" not in known
