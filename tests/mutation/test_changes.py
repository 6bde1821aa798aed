"""Which one-token changes a source offers."""

from __future__ import annotations

import pytest

from tests.mutation.changes import changes

CASES = {
    "x = a == b": ["x = a != b"],
    "x = a not in b": ["x = a in b"],
    "x = a < b <= c": ["x = a >= b <= c", "x = a < b > c"],
    "x = a and b or c": ["x = a or b or c", "x = a and b and c"],
    "if not a: pass": ["if a: pass"],
    "if not (a == 9): pass": ["if (a == 9): pass", "if not (a != 9): pass"],
    "if a: pass": ["if not (a): pass"],
    "x = [a for a in b if a]": ["x = [a for a in b if not (a)]"],
    "x = a if b else True": ["x = a if not (b) else True", "x = a if b else False"],
    "x = a[1] + 30": ["x = a[2] + 30"],
    "def f(a: Literal[1] = 1): pass": ["def f(a: Literal[1] = 2): pass"],
    'x: Literal[1] = "ä" == a': ['x: Literal[1] = "ä" != a'],
    "@f(frozen=True)\nclass A: a = False": ["class A: a = True"],
}


@pytest.mark.parametrize("source", CASES)
def test_each_token_changes_alone(source: str) -> None:
    content = source.encode()
    assert [change.lines(content)[1] for change in changes("f.py", content)] == CASES[source]


def test_a_change_knows_where_its_function_begins() -> None:
    source = b"a = 1\n@f\ndef g():\n    def h():\n        return True\n    return a == h\n"
    found = [(change.line, change.function) for change in changes("f.py", source)]
    assert found == [(1, None), (5, 4), (6, 2)]


def test_a_change_knows_the_lines_of_its_statement() -> None:
    source = b"""
@f
def g(a, b=1):
    if (
        a == b
        and b
    ):
        return not a
    match a:
        case 3 if b > 2:
            return 1
"""
    found = {
        (change.text, change.statement.start, change.statement.stop)
        for change in changes("f.py", source)
    }
    header = (4, 8)
    assert found == {
        (b"2", 0, 0),
        (b"!=", *header),
        (b"or", *header),
        (b"not (a == b\n        and b)", *header),
        (b"", 8, 9),
        (b"<=", 10, 11),
        (b"3", 10, 11),
        (b"2", 11, 12),
    }
