"""Channel values that are decoded when someone looks at them."""

from __future__ import annotations

import pytest

from langgraph_once.checkpoint.lazy_values import LazyValues


def test_each_lazy_value_is_decoded_once_and_none_before_it_is_read() -> None:
    seen: list[str] = []

    def decode(name: str) -> str | None:
        seen.append(name)
        return None if name == "none" else name.upper()

    lazy = LazyValues(["a", "none"], decode)
    assert (list(lazy), len(lazy), "a" in lazy, "b" in lazy) == (["a", "none"], 2, True, False)
    assert seen == []
    assert lazy["none"] is lazy.get("none") is None
    assert lazy.get("b", 5) == 5
    assert seen == ["none"]
    assert dict(lazy) == {"a": "A", "none": None}
    assert seen == ["none", "a"]


def test_what_cannot_be_decoded_raises_each_time_and_alone() -> None:
    def decode(name: str) -> str:
        if name == "bad":
            raise ValueError("damaged")
        return name

    lazy = LazyValues(["good", "bad"], decode)
    assert lazy["good"] == "good"
    for _ in range(2):
        with pytest.raises(ValueError, match="damaged"):
            lazy["bad"]
