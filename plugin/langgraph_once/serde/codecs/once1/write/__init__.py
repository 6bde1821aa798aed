"""Objects to the bytes of codec `once1`: three ways, from the quickest to the most general.

In: an object. Out: bytes, or an `EncodeError` that says which part cannot be written.

    encoder.py             `Encoder`, and the general way, which decides what is right
    threads.py             1: threads of messages, and plain data around them
    plain_data.py          data of nothing but native values: one call, no walk
    odd_parts.py           what stands in these and is not plain, or twice: written as 2 does
    written_threads.py     threads that were written a moment ago
    attempts.py            2, as often as it takes; and how each class is written
    one_pass.py            2: any value that is simple, in one pass; in two, if a part occurs twice
    simple_objects.py      which objects are simple; their kinds; the `HEAD` of a thread
    nested_objects.py      objects in objects: the form of a `TREE`
    value_graph.py         3: the value as a graph (`nodes.py`), for cycles and any depth
    partial_exceptions.py  an exception that holds what cannot be written
"""
