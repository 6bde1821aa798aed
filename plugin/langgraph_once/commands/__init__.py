"""The commands of `langgraph-once`: one file each, and what they share.

| file | question |
|---|---|
| `project.py` | which settings does this project run with? |
| `database.py` | which database, and how are its rows read? |
"""
