"""Bytes to bytes: what is done to the output of a codec before it is stored.

In: the bytes of a codec. Out: the bytes in the database, and the tag that says how to undo it.

    tag.py            the tag: `<codec>[.zstd][.aesgcm]`
    compression.py    layer `zstd`; its dictionary is in `dictionaries/`
    encryption.py     layer `aesgcm`, under a ring of named keys; LangGraph's `aes`, read only
    aes_gcm.py        one of these keys; imported when there is one
"""
