"""A path goes in; a saver on SQLite comes out.

backend.py   SQLite as everything outside sees it, and its saver
engine.py    runs the statements, and makes the tables
file.py      is the path good? If not, one line with what to do
tables.py    the tables, and the statements that only SQLite has
"""
