"""The README and docs/: what they show runs, what they link to is there, what is generated is new.

snippets.py   the examples of a page, and how they are run
problem.py    the graph that the README begins with
reference.py  writes the pages that are generated
"""
