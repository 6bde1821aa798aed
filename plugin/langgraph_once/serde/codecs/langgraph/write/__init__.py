"""Objects to the msgpack that LangGraph's serializer writes, byte for byte, but sooner.

In: an object. Out: msgpack.

    msgpack_rows.py  one encoder for each type; what it does not know goes to LangGraph's own
    models.py        pydantic models, mostly without calling `model_dump()`
    dumped_as_is.py  for which classes is `model_dump()` the instance's own dictionary?
"""
