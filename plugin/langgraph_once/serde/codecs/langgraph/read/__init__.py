"""Rows of LangGraph's serializer to objects.

In: a row tagged `msgpack` or `json`. Out: the object, an `Opaque`, or an error.

    msgpack_rows.py            the reader of `msgpack`; start here
    json_rows.py               the reader of `json`, of LangGraph's first versions
    pickle_rows.py             rows that were pickled: refused
    named_types.py             from the class that an extension names to what makes its instances
    constructors.py            classes that are listed: made by their constructors
    without_code.py            classes that are not: made of their parts, without their code
    model_dumps.py             what such a class was dumped to, taken back by its schema
    messages.py                LangChain messages, without validation where it changes nothing
    validation_fingerprint.py  has the validation of a class changed?
    numpy_arrays.py            arrays, their numbers read in place
    key_collisions.py          maps with too many keys of one hash
"""
