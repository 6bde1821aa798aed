"""A JSON text is changed in one place, and keeps all else, byte by byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from langgraph_once.platform.wiring import JsonText

WIDE = '{\n    "b": {"x": 1},\n    "a": [\n        1\n    ],\n    "o": {}\n}\n'


def test_a_key_is_added_in_the_indent_of_the_file() -> None:
    text = JsonText(WIDE)
    text.add((), "new", {"path": "p", "once": {"path": "q"}})
    text.add(("b",), "y", "z")
    text.add(("o",), "k", 1)
    assert text.text == (
        '{\n    "b": {"x": 1, "y": "z"},\n    "a": [\n        1\n    ],\n'
        '    "o": {\n        "k": 1\n    },\n'
        '    "new": {\n        "path": "p",\n        "once": {"path": "q"}\n    }\n}\n'
    )


def test_line_ends_and_a_missing_last_one_stay() -> None:
    text = JsonText('{\r\n\t"a": {\r\n\t\t"b": "c"\r\n\t}\r\n}')
    text.replace(("a", "b"), {"path": "p", "once": {"t": "u"}})
    text.add(("a",), "d", 1)
    assert text.text == (
        '{\r\n\t"a": {\r\n\t\t"b": {\r\n\t\t\t"path": "p",\r\n\t\t\t"once": {"t": "u"}\r\n\t\t},'
        '\r\n\t\t"d": 1\r\n\t}\r\n}'
    )


def test_what_is_in_one_line_stays_in_one() -> None:
    text = JsonText('{"a":{"b":"ü"} , "c": {}}')
    text.replace(("a", "b"), {"path": {"x": "y"}})
    text.add(("c",), "d", "e")
    text.add((), "f", {"g": {"h": 1}})
    assert text.text == ('{"a":{"b":{"path": {"x": "y"}}} , "c": {"d": "e"}, "f": {"g": {"h": 1}}}')


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1} 2', '{"a": {"b": 1, "b": 2}}'])
def test_what_it_cannot_change_it_refuses(text: str) -> None:
    with pytest.raises(ValueError):
        JsonText(text).add(("a",), "c", 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(), VALUES, max_size=4),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.text(),
    VALUES,
)
def test_any_object_is_changed_as_its_parsed_form_would_be(
    parsed: dict[str, Any], indent: Any, key: str, value: Any
) -> None:
    text = JsonText(json.dumps(parsed, indent=indent, ensure_ascii=False))
    for name in list(parsed):
        text.replace((name,), value)
        parsed[name] = value
        assert json.loads(text.text) == parsed
    if key not in parsed:
        text.add((), key, value)
        parsed[key] = value
    assert list(json.loads(text.text).items()) == list(parsed.items())
