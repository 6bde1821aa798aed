"""The one-token changes that a source file offers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

_TURNED: Final[dict[type[ast.cmpop], bytes]] = {
    ast.Eq: b"!=",
    ast.NotEq: b"==",
    ast.Lt: b">=",
    ast.GtE: b"<",
    ast.Gt: b"<=",
    ast.LtE: b">",
    ast.Is: b"is not",
    ast.IsNot: b"is",
    ast.In: b"not in",
    ast.NotIn: b"in",
}
_COMPARISON: Final = re.compile(rb"not\s+in\b|is\s+not\b|[=!<>]=|<|>|\bin\b|\bis\b")
_CONNECTIVE: Final = re.compile(rb"\b(and|or)\b")
_LARGEST: Final = 2  # Larger numbers are sizes and times: one more of them is nothing to notice.


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes of a file, what stands there instead, and what runs when they do.

    Attributes:
        function: The line on which their function begins.
        statement: The lines of their statement, without the statements within it.
    """

    path: str
    line: int
    start: int
    end: int
    text: bytes
    function: int | None
    statement: range

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.text + source[self.end :]

    def lines(self, source: bytes) -> tuple[str, str]:
        """The line before and after."""
        first = source.rfind(b"\n", 0, self.start) + 1
        before, after = (
            text[first:].partition(b"\n")[0].decode().strip()
            for text in (source, self.applied(source))
        )
        return before, after


def changes(path: str, source: bytes) -> list[Change]:
    """All changes that the file offers, in order."""
    return sorted(_Finder(path, source).found, key=lambda change: (change.start, change.text))


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str, source: bytes) -> None:
        self.found: list[Change] = []
        self._path, self._source = path, source
        self._begins = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
        self._function: int | None = None
        self._statement = range(0)
        self.visit(ast.parse(source))

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, (ast.stmt, ast.match_case)):
            self._statement = _lines(node)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._visit_function(node)
            case ast.ClassDef(body=body):
                self._visit_all(body)
            case ast.AnnAssign(value=value):
                self._visit_all([value] if value else [])
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
                self._visit_all(orelse)
            case _:
                self._change(node)
                self.generic_visit(node)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self._function
        self._function = min(part.lineno for part in (node, *node.decorator_list))
        self._statement = range(0)  # Defaults are made at import; who calls the function has them.
        self._visit_all([*node.args.defaults, *filter(None, node.args.kw_defaults)])
        self._visit_all(node.body)
        self._function = outer

    def _visit_all(self, nodes: Sequence[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _change(self, node: ast.AST) -> None:
        for condition in _conditions(node):
            self._negate(condition)
        match node:
            case ast.Compare(left=left, ops=ops, comparators=right):
                for before, op, after in zip([left, *right], ops, right, strict=False):
                    self._replace_between(before, after, _COMPARISON, _TURNED[type(op)])
            case ast.BoolOp(op=op, values=values):
                other = b"or" if isinstance(op, ast.And) else b"and"
                for before, after in pairwise(values):
                    self._replace_between(before, after, _CONNECTIVE, other)
            case ast.UnaryOp(op=ast.Not()):
                self._put(node, self._start(node), self._start(node) + len("not "), b"")
            case ast.Constant(value=bool(value)):
                self._put(node, self._start(node), self._end(node), str(not value).encode())
            case ast.Constant(value=int(value)) if value <= _LARGEST:
                self._put(node, self._start(node), self._end(node), str(value + 1).encode())

    def _negate(self, node: ast.expr) -> None:
        """Negate the condition, where neither a turned comparison nor a dropped `not` does it."""
        match node:
            case ast.Compare(ops=[_]) | ast.UnaryOp(op=ast.Not()):
                return
        start, end = self._start(node), self._end(node)
        self._put(node, start, end, b"not (" + self._source[start:end] + b")")

    def _replace_between(
        self, before: ast.expr, after: ast.expr, token: re.Pattern[bytes], text: bytes
    ) -> None:
        found = token.search(self._source, self._end(before), self._start(after))
        if found is not None:
            self._put(before, found.start(), found.end(), text)

    def _put(self, node: ast.expr, start: int, end: int, text: bytes) -> None:
        line = self._source.count(b"\n", 0, start) + 1
        place = self._function, self._statement
        self.found.append(Change(self._path, line, start, end, text, *place))

    def _start(self, node: ast.expr) -> int:
        return self._begins[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr) -> int:
        return self._begins[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)


def _lines(node: ast.stmt | ast.match_case) -> range:
    begin = node.pattern if isinstance(node, ast.match_case) else node
    body = getattr(node, "body", None)
    end = body[0].lineno if body else (begin.end_lineno or 0) + 1
    return range(begin.lineno, max(end, begin.lineno + 1))


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield test
        case ast.comprehension(ifs=ifs):
            yield from ifs
        case ast.match_case(guard=ast.expr() as guard):
            yield guard
