"""Structs of msgspec that the stored blobs name. As in `model`, no name may ever change."""

from __future__ import annotations

import msgspec


class Station(msgspec.Struct):
    name: str
    lines: list[int]
