"""The formats of LangGraph's own serializer, so that its rows are read and it can read ours.

In: an object, or a row tagged `msgpack` or `json`. Out: such a row, or the object.

    write.py         objects to `msgpack`, with the functions of LangGraph
    read/            rows of `msgpack` and `json` to objects
    scan.py          how long, how deep, which keys: asked of the bytes, before reading
"""
