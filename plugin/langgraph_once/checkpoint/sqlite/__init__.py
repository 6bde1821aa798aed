"""A path goes in; a saver on SQLite comes out.

backend.py   SQLite as everything outside sees it
saver.py     the saver, and how it is opened
file.py      is the path good?
engine.py    runs the statements, and makes the tables
tables.py    the tables, and the statements that only SQLite has
filters.py   metadata as text, and which checkpoints are listed by them
failures.py  an error of SQLite, as one line with what to do
"""
