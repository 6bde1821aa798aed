"""Store `once_values` as the serializer of this version writes them. From the root:

    .venv/bin/python -m tests.data.blobs.write_once

What is stored is never written again; only what is missing is added, to the folder of the version
that writes it. Another Python than 3.11 has a folder of its own, for what it writes otherwise.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from tests.data.blobs import files
from tests.data.blobs.once_values import CODES, COMMON, FORMS, LAYERS, VALUES, serde

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.data.blobs.files import Rows

_PYTHON: Final = "" if sys.version_info[:2] == (3, 11) else "-python{}.{}".format(*sys.version_info)
FOLDER: Final = "once-" + ".".join(version("langgraph-once").split(".")[:2]) + _PYTHON
"""Where this version, under this Python, adds rows."""


def wanted() -> dict[str, tuple[dict[str, Any], Callable[[], Any]]]:
    """Return the settings and the maker of each row that must be stored, by the row's name."""
    rows: dict[str, tuple[dict[str, Any], Callable[[], Any]]] = {}
    for layers, settings in LAYERS.items():
        for name, make in COMMON.items():
            rows[f"msgpack-{name}{layers}"] = ({"compatible": True}, make)
        if "+" not in layers:  # which were no more when `once2` came
            rows[f"once2-thread{layers}"] = (settings, lambda: COMMON["thread"]() | {"n": [1] * 99})
    for kind, makers in (("value", VALUES), ("form", FORMS), ("code", CODES)):
        rows |= {f"{kind}-{name}": (LAYERS[""], make) for name, make in makers.items()}
    return rows


def stored() -> dict[str, Rows]:
    """Return the rows of all our versions, by folder."""
    return {folder: files.load(folder) for folder in files.folders("once-")}


def main() -> None:
    """Add what is missing to the folder of this version."""
    before = stored()
    rows = before.get(FOLDER, {})
    refused: dict[str, str] = {}
    for name, (settings, make) in wanted().items():
        others = [found[name] for found in before.values() if name in found]
        if name in rows or (others and not (_PYTHON and settings == LAYERS[""])):
            continue
        try:
            value = make()
        except NotImplementedError as error:
            refused[name] = type(error).__name__
            continue
        row = serde(**settings).dumps_typed(value)
        if row not in others:
            rows[name] = row
    if rows:
        files.save(FOLDER, rows, refused)


if __name__ == "__main__":
    main()
