"""An address goes in; a saver on PostgreSQL comes out. All of it needs the extra `postgres`.

backend.py      PostgreSQL as everything outside sees it
saver.py        the saver, and how its pool is opened
engine.py       runs the statements, in as few round trips as they take
schema.py       makes the tables, upstream's and ours
tables.py       the statements that only PostgreSQL has
at_once.py      what one operation stores, as one statement
moves.py        what migrate and verify ask of PostgreSQL alone
filters.py      which checkpoints are listed
json_values.py  what JSONB returns as it went in
driver.py       psycopg, and how statements are executed on it
failures.py     an error of psycopg, as one line with what to do
"""
