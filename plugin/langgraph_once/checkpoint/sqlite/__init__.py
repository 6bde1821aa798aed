"""A path goes in; a saver on SQLite comes out.

backend.py   SQLite as everything outside sees it, and its saver
engine.py    opens files, runs the statements, makes the tables; errors as one line with what to do
tables.py    the tables, and the statements that only SQLite has
"""
