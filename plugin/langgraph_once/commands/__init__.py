"""The commands of `langgraph-once`: one file each, and what they share.

| file | question |
|---|---|
| `project_settings.py` | which settings does this project run with? |
| `opened_database.py` | which database, and how are its rows read? |
| `terminal.py` | how is it printed? |
"""
