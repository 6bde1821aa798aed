"""Which classes a row may name, and whose code may run when it is read.

In: the name of a class, from bytes. Out: the class, or a refusal that says what to set.

    policy.py        the table that decides: who may be read and written, and what may run
    allowlist.py     how does a class stand, and what happens to it by that? `@storable`
    project.py       which modules are the project's own source?
    lookup.py        what does a name lead to, without running any code?
    class_code.py    which code of a class would run while it is rebuilt?
    hash_guard.py    does a key or item run code of its class when it is hashed?
    off_loop.py      asks the disk outside of the event loop
    module_owner.py  to which package does a module belong? For messages
    audit.py         what was refused or reported so far, and the setting that lets it in
"""
