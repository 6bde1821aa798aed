"""Units: the pieces of content that a scenario says, and how often each must arrive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

USAGE_TOKENS = 8
"""The total of each usage that the wires of this corpus send."""


class Piece(NamedTuple):
    """What is said, without who says it or under which id."""

    kind: Literal["text", "call", "thought", "block", "usage"]
    says: str


def text_piece(text: str) -> Piece:
    """The whole text of one message."""
    return Piece("text", text)


def call_piece(name: str | None, args: Mapping[str, Any]) -> Piece:
    """One tool call."""
    return Piece("call", f"{name}{json.dumps(args, sort_keys=True)}")


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A piece, and how often the consumer must have it in the end, by what carries it.

    With several modes the most that one of them carries is right: the others repeat it.
    """

    piece: Piece
    streamed: int = 1
    """How often mode `messages` must deliver it."""

    updated: int = 1
    """How often mode `updates` must deliver it."""

    stated: int | None = 1
    """How often mode `values` must deliver it; None where it depends on when a state is seen."""

    inner: bool = False
    """It is said inside a subgraph only: without `subgraphs` nothing carries it."""

    inside: int = 0
    """How often it is said inside subgraphs besides."""

    fleeting: bool = False
    """It is delivered and taken back: wrong is only to keep it."""

    again: bool = False
    """The user asked for it anew: what was taken back in between counts too."""

    chat: bool = True
    """It is one of the messages of a v3 run, which leaves out tool results."""

    open: bool = False
    """Its task has not ended, or a node pushed it: it is no draft, though no state has it."""

    @property
    def is_heard(self) -> bool:
        """The consumer itself put it in."""
        return not (self.streamed or self.updated or self.fleeting)

    @property
    def is_draft(self) -> bool:
        """It is said in vain: no state has it."""
        return bool(self.streamed) and not (
            self.updated or self.stated or self.fleeting or self.open
        )

    @property
    def has_place(self) -> bool:
        """It is a message or a call at a place in the order of what is said."""
        is_said = self.piece.kind in ("text", "call") and self.streamed == 1
        return is_said and not (self.inner or self.again)


def said(text: str, times: int = 1, **how: Any) -> Unit:
    """A text that enters the state, `times` times."""
    return _unit(text_piece(text), times, how)


def call(name: str, args: Mapping[str, Any], times: int = 1, **how: Any) -> Unit:
    """A tool call that enters the state."""
    return _unit(call_piece(name, args), times, how)


def thought(text: str, times: int = 1, **how: Any) -> Unit:
    """Reasoning that enters the state with its message."""
    return _unit(Piece("thought", text), times, how)


def block(content: Mapping[str, Any], times: int = 1, **how: Any) -> Unit:
    """A content block that is neither text nor a call nor reasoning."""
    return _unit(Piece("block", json.dumps(content, sort_keys=True)), times, how)


def usage(times: int = 1, **how: Any) -> Unit:
    """The usage that a provider sends with an answer: clients add up what they receive."""
    return _unit(Piece("usage", str(USAGE_TOKENS)), times, how)


def draft(text: str, times: int = 1, **how: Any) -> Unit:
    """A text that is streamed and never enters the state."""
    return Unit(piece=text_piece(text), streamed=times, updated=0, stated=0, **how)


def heard(text: str, times: int | None = 1, **how: Any) -> Unit:
    """A text that the consumer itself put in: only the state shows it."""
    return Unit(piece=text_piece(text), streamed=0, updated=0, stated=times, **how)


def gone(text: str, **how: Any) -> Unit:
    """A text that is superseded or removed: delivered or not, in the end it is not there."""
    return Unit(piece=text_piece(text), streamed=0, updated=0, stated=0, fleeting=True, **how)


def _unit(piece: Piece, times: int, how: Mapping[str, Any]) -> Unit:
    counts = dict.fromkeys(("streamed", "updated", "stated"), times)
    return Unit(piece=piece, **{**counts, **how})


QUESTION = heard("Please begin.")
