"""The SQL of the saver, on the tables that upstream's `setup` makes."""

from __future__ import annotations

# Ids travel as one JSON array: SQLite bounds the number of variables, not their length.
# `json_valid` comes first wherever metadata is read: Python writes NaN, which JSON does not
# have, and one such row would fail the statement for every thread. The index repeats the
# expressions, and without it a rollback would read the whole database under the write lock.
#
# A run ran on one thread. `once_copied` is set on the checkpoints of a copy, whose metadata names
# the run as the original's does: a rollback leaves them, until another run stores them anew.
ADD_COLUMNS = (
    "ALTER TABLE writes ADD COLUMN once_run_id TEXT",
    "ALTER TABLE checkpoints ADD COLUMN once_copied INTEGER",
)
ADD_INDEXES = (
    """
    CREATE INDEX IF NOT EXISTS once_checkpoints_run
    ON checkpoints(json_extract(CAST(metadata AS TEXT), '$.run_id'))
    WHERE json_valid(CAST(metadata AS TEXT))
    """,
    """
    CREATE INDEX IF NOT EXISTS once_checkpoints_not_json ON checkpoints(thread_id)
    WHERE NOT json_valid(CAST(metadata AS TEXT))
    """,
    """
    CREATE INDEX IF NOT EXISTS once_writes_run ON writes(once_run_id)
    WHERE once_run_id IS NOT NULL
    """,
)
PUT_CHECKPOINT = """
INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
    type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
DELETE_RUNS = (
    """
    DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN (
        SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints
        WHERE once_copied IS NULL AND json_valid(CAST(metadata AS TEXT))
        AND json_extract(CAST(metadata AS TEXT), '$.run_id') IN (SELECT value FROM json_each(?)))
    """,
    "DELETE FROM writes WHERE once_run_id IN (SELECT value FROM json_each(?))",
    """
    DELETE FROM checkpoints WHERE once_copied IS NULL AND json_valid(CAST(metadata AS TEXT))
    AND json_extract(CAST(metadata AS TEXT), '$.run_id') IN (SELECT value FROM json_each(?))
    """,
)
NOT_FOR_SQLITE = """
SELECT thread_id, checkpoint_ns, checkpoint_id, metadata FROM checkpoints
WHERE once_copied IS NULL AND NOT json_valid(CAST(metadata AS TEXT))
"""
DELETE_CHECKPOINT = (
    "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
    "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
)
DELETE_THREADS = (
    "DELETE FROM writes WHERE thread_id IN (SELECT value FROM json_each(?))",
    "DELETE FROM checkpoints WHERE thread_id IN (SELECT value FROM json_each(?))",
)
COPY_CHECKPOINTS = """
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
    type, checkpoint, once_copied, metadata)
SELECT :target, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, 1,
    CASE WHEN json_valid(CAST(metadata AS TEXT)) THEN
        CASE WHEN json_extract(CAST(metadata AS TEXT), '$.thread_id') = :source
        THEN CAST(json_set(CAST(metadata AS TEXT), '$.thread_id', :target) AS BLOB)
        ELSE metadata END
    ELSE metadata END
FROM checkpoints WHERE thread_id = :source
"""
COPY_WRITES = """
INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel,
    type, value)
SELECT :target, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value
FROM writes WHERE thread_id = :source
"""
LATEST = """
SELECT checkpoint_ns, MAX(checkpoint_id) FROM checkpoints WHERE thread_id = ?
GROUP BY checkpoint_ns
"""
DELETE_OTHERS = (
    """
    DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ?
    AND checkpoint_id NOT IN (SELECT value FROM json_each(?))
    """,
    """
    DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?
    AND checkpoint_id NOT IN (SELECT value FROM json_each(?))
    """,
)
REPLACE_WRITES = """
INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
    channel, type, value, once_run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
IGNORE_WRITES = REPLACE_WRITES.replace("OR REPLACE", "OR IGNORE")
