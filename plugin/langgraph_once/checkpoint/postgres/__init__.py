"""An address goes in; a saver on PostgreSQL comes out. All of it needs the extra `postgres`.

backend.py      PostgreSQL as everything outside sees it
saver.py        the saver, and how its pool is opened
engine.py       runs the statements, in as few round trips as they take, and makes the tables
tables.py       the statements that only PostgreSQL has; what one operation stores, as one of them
moves.py        what migrate and verify ask of PostgreSQL alone
metadata.py     metadata as JSONB returns them, and which checkpoints are listed by them
driver.py       psycopg: how statements are executed on it, and its errors as one line
"""
