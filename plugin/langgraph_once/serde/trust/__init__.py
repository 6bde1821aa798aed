"""Which classes a row may name, and what may be done with them.

In: the name of a class, from bytes. Out: the class, or a refusal that says what to list.

    policy.py    the table that decides: what may be loaded, made, called, and written
    project.py   which packages does the project's source import?
    lookup.py    what does a name lead to, without running any code? What is a class of data?
    audit.py     counts what was refused or reported, and proposes the setting that lets it in
"""
