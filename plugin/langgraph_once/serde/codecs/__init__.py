"""Objects to bytes and back. A codec knows nothing of compression and encryption.

In: an object. Out: the bytes of one format. And back.

    once1/       our format: every value comes back equal and of the same types
    langgraph/   the formats of LangGraph's own serializer: `msgpack` (read and written), `json`
    fallback.py  what `once1` cannot write and LangGraph can: written as LangGraph writes it
"""
