"""Store `once_values` as the serializer of this version writes them. From the root:

    .venv/bin/python -m tests.data.blobs.write_once

What is stored is never written again; only what is missing is added, to the folder of the
version that writes it.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any, get_args

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.layers.tag import Codec
from tests.data.blobs import files, model
from tests.data.blobs.once_values import (
    ADAPTERS,
    COMMON,
    EXTENSIONS,
    FAMILIES,
    FORMS,
    LAYERS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.data.blobs.files import Rows

CODECS = [codec for codec in ("msgpack", "once1") if codec in get_args(Codec)]
"""The codecs that this version writes."""


def wanted() -> dict[str, tuple[dict[str, Any], Callable[[], Any]]]:
    """Return the settings and the maker of each row that must be stored, by the row's name."""
    rows: dict[str, tuple[dict[str, Any], Callable[[], Any]]] = {}
    for codec in CODECS:
        for layers, settings in LAYERS.items():
            for name, make in COMMON.items():
                rows[f"{codec}-{name}{layers}"] = ({"codec": codec} | settings, make)
    if "once1" in CODECS:
        settings = {"codec": "once1", "compression": "none", "on_unknown": "opaque"}
        for kind, makers in (("adapter", ADAPTERS), ("family", FAMILIES), ("ext", EXTENSIONS)):
            rows |= {f"{kind}-{name}": (settings, make) for name, make in makers.items()}
        rows |= {f"form-{name}": (settings | more, make) for name, (more, make) in FORMS.items()}
    return rows


def stored() -> Rows:
    """Return the rows of all our versions."""
    return {
        name: row for folder in files.folders("once-") for name, row in files.load(folder).items()
    }


def main() -> None:
    """Add what is missing to `once-<major>.<minor>`."""
    folder = "once-" + ".".join(version("langgraph-once").split(".")[:2])
    rows = files.load(folder) if folder in files.folders(folder) else {}
    refused: dict[str, str] = {}
    for name, (settings, make) in wanted().items():
        if name in stored():
            continue
        config = SerdeConfig(allowed_types=model.ALLOWED_TYPES, **settings)
        try:
            value = make()
        except (ImportError, NotImplementedError) as error:
            refused[name] = type(error).__name__
            continue
        rows[name] = OnceSerializer(config).dumps_typed(value)
    files.save(folder, rows, refused)


if __name__ == "__main__":
    main()
