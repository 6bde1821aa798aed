"""Signatures for `inspect` and `help`, of methods that pass most of their arguments on."""

from __future__ import annotations

import inspect
from inspect import Parameter
from typing import Any, TypeVar

__all__ = ["shows_options"]

C = TypeVar("C", bound=type)


def shows_options(cls: C) -> C:
    """Let the methods of `cls` show the options that their `**kwargs` take: upstream's."""
    upstream = cls.__mro__[1]
    for name, method in vars(cls).items():
        if callable(method) and (theirs := getattr(upstream, name, None)) is not None:
            setattr(method, "__signature__", _merged(method, theirs))  # noqa: B010  # mypy's wish
    return cls


def _merged(ours: Any, theirs: Any) -> inspect.Signature:
    """Our signature, with the options of theirs that it lacks put before `**kwargs`."""
    signature = inspect.signature(ours)
    own = list(signature.parameters.values())
    if own[-1].kind is not Parameter.VAR_KEYWORD:
        return signature
    known = signature.parameters
    passed = [
        option
        for option in inspect.signature(theirs).parameters.values()
        if option.kind is Parameter.KEYWORD_ONLY and option.name not in known
    ]
    return signature.replace(parameters=[*own[:-1], *passed, own[-1]])
