"""What the bytes of codec `once1` are. Nothing here knows any class.

In: bytes. Out: what stands where in them.

    layout.py        the format: every extension, the table, the limits. Read this first
    object_forms.py  the parts of `MODEL`, `MODELS`, `HEAD` and `TREE`, checked
    scan.py          headers: how much, how deep, where the next one is
    opaque.py        `Opaque`, which stands for an object that cannot be rebuilt
    value_path.py    how a place in a value is shown: `["docs"][3].owner`
"""
