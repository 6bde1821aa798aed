"""An address goes in; a saver on PostgreSQL comes out. All of it needs the extra `postgres`.

backend.py      PostgreSQL as everything outside sees it
saver.py        the saver, and how its pool is opened
engine.py       psycopg: runs the statements, makes the tables, says what errors mean
tables.py       the statements that only PostgreSQL has, and what their rows say
queries.py      their text; what one operation stores, as one of them
"""
