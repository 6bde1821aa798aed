"""The form in which rows of a database are kept: JSON with one line for each row.

Imports only what the oldest interpreter environment that writes rows has, too.
"""

from __future__ import annotations

import base64
import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

ROOT = Path(__file__).parent
PACKAGES = ("langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite")
TABLES = {
    "checkpoints": (
        "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
    ),
    "writes": "thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value",
}

OLD_TABLES = """
PRAGMA journal_mode=WAL;
CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT,
    type TEXT,
    checkpoint BLOB,
    metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);
CREATE TABLE writes (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    idx INTEGER NOT NULL,
    channel TEXT NOT NULL,
    type TEXT,
    value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
"""
"""What savers made up to langgraph-checkpoint-sqlite 3.1.1; 3.1.2 has `writes.task_path`."""


def names() -> list[str]:
    """Return the names of the databases that are kept, the oldest langgraph first."""
    return sorted(path.stem for path in ROOT.glob("*.json"))


def save(name: str, conn: sqlite3.Connection) -> None:
    """Keep the rows of `conn`, with the versions of the packages that wrote them."""
    document: list[str] = [f'"packages": {json.dumps({name: version(name) for name in PACKAGES})}']
    for table, columns in TABLES.items():
        rows = conn.execute(f"SELECT {columns} FROM {table} ORDER BY rowid")
        lines = ",\n".join(json.dumps(list(map(_shown, row))) for row in rows)
        document.append(f'"{table}": [\n{lines}\n]')
    text = ",\n".join(document)
    (ROOT / f"{name}.json").write_text(f"{{{text}}}\n", encoding="utf-8")


def load(name: str, conn: sqlite3.Connection) -> None:
    """Put the rows kept as `name` into the tables of `conn`, which must exist."""
    document = json.loads((ROOT / f"{name}.json").read_text(encoding="utf-8"))
    for table, columns in TABLES.items():
        marks = ", ".join("?" * len(columns.split(",")))
        insert = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
        conn.executemany(insert, [tuple(map(_read, row)) for row in document[table]])
    conn.commit()


def _shown(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _read(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value
