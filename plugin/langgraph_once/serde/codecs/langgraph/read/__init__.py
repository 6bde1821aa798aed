"""Rows of LangGraph's serializer to objects.

In: a row tagged `msgpack` or `json`. Out: the object, an `Opaque`, or an error.

    msgpack_rows.py            the reader of `msgpack`; start here
    json_rows.py               the reader of `json`, of LangGraph's first versions; refuses pickle
    named_types.py             from the class that an extension names to what makes its instances
    constructors.py            classes that are listed: made by their constructors; arrays
    without_code.py            classes that are not: made of their parts, without their code
    model_dumps.py             what such a class was dumped to, taken back by its schema
    messages.py                LangChain messages, without validation where it changes nothing
"""
