"""Store `upstream_values` as the upstream version in this interpreter's environment writes them.

Run once for each version, from the root of the repository, in a throw-away environment that
holds `langgraph-checkpoint` at that version, a `langgraph`, `langchain-core` and `ormsgpack` of
its time, numpy and pycryptodome:

    PYTHONPATH=. <environment>/bin/python -m tests.data.blobs.write_upstream

What is stored is never written again: these bytes stand for rows in databases out there.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from tests.data.blobs import files
from tests.data.blobs.upstream_values import AES_KEY, ENCRYPTED, VALUES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.data.blobs.files import Rows


def main() -> None:
    """Write `upstream-<version>/blobs.json`, which must not exist."""
    folder = f"upstream-{version('langgraph-checkpoint')}"
    if folder in files.folders(folder):
        raise SystemExit(f"{folder} is there already, and blobs are never written again")
    rows: Rows = {}
    refused: dict[str, str] = {}
    for name, make in VALUES.items():
        try:
            rows[name] = JsonPlusSerializer().dumps_typed(make())
        except Exception as error:
            refused[name] = type(error).__name__
    files.save(folder, rows | sealed_rows(rows) | pickled_row(), refused)


def sealed_rows(names: Iterable[str]) -> Rows:
    """Return encrypted rows of some of `names`, where this version knows encryption."""
    try:
        from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
    except ImportError:
        return {}
    serde = EncryptedSerializer.from_pycryptodome_aes(key=AES_KEY)
    return {f"{name}+aes": serde.dumps_typed(VALUES[name]()) for name in ENCRYPTED if name in names}


def pickled_row() -> Rows:
    """Return a row of the pickle fallback, where this version has it."""
    try:
        return {"pickled": JsonPlusSerializer(pickle_fallback=True).dumps_typed(1 + 2j)}
    except TypeError:
        return {}


if __name__ == "__main__":
    main()
