"""What stored rows name. Nothing is built or imported, so any row may be asked.

In: the bytes of a row, as its codec wrote them. Out: names of classes, and what becomes of them.

    type_names.py   which classes does a row name, in every codec, and in which channels?
    rebuildable.py  can a new process rebuild instances of a class, and if not, why?
"""
