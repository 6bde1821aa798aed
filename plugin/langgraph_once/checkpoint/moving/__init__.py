"""All threads of a database go in; they come out elsewhere, in another form.

migrate.py   rewrites the rows of a database: for LangGraph's savers, or as the settings say now
transfer.py  copies threads into another database
cells.py     how they read rows, and what they tell of it
"""
