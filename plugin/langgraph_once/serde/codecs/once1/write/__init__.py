"""Objects to the bytes of codec `once1`: four ways, from the quickest to the most general.

In: an object. Out: bytes, or an `EncodeError` that says which part cannot be written.

    encoder.py             `Encoder`, and the general way, which decides what is right
    threads.py             1: threads of messages and plain data; odd parts as 2, repeated ones as 3
    attempts.py            the order of 2 and 3, and how each class is written
    one_pass.py            2: any value that is simple, in one pass
    shared_parts.py        3: the same, with parts that occur more than once, or are unusual
    simple_objects.py      which objects are simple; their kinds; the `HEAD` of a thread
    nested_objects.py      objects in objects: the form of a `TREE`
    value_graph.py         4: the value as a graph (`nodes.py`), for cycles and any depth
    partial_exceptions.py  an exception that holds what cannot be written
"""
