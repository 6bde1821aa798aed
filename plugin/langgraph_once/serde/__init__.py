"""ROOM 1: objects to tagged bytes and back.

In: any Python object. Out: `(tag, bytes)`, as a saver stores them. And back.

Who is outside this room imports from here: `__all__` lists what is public; names that are imported
`as` themselves are for the other rooms of this package.

    serializer.py     the way of a value: codec, zstd, AES-GCM; and back, by the tag; where in a
                      value something is, for errors
    format.py         what its bytes are, and their tag `<codec>[.zstd][.aesgcm]`, with the layers
    writer.py         objects to bytes: ormsgpack walks, and asks about what is not native
    reader.py         bytes to objects
    graph.py          values that contain themselves, or are very deep
    registry.py       how instances of a class are written, and objects of a head made
    plans/            how objects of each kind are taken apart and put together
    opaque.py         what a reader hands on for an object that it cannot make; why it cannot
    names.py          what the bytes call a class
    trust.py          which classes a row may name; what was refused, and what lets it in
    lookup.py         what a name leads to, without code of it; what the project imports
    limits.py         what reading a row may take: time, memory, stack
    stock.py          LangGraph's rows, read by LangGraph's rules
    messages.py       messages in these, without validation
    stock_writes.py   LangGraph's rows, written
    compression.py    layer `zstd`; its dictionary is in `dictionaries/`
    encryption.py     layer `aesgcm`, under a ring of keys (aes_gcm.py is one); LangGraph's `aes`
    types_in_rows.py  which classes a row names, without its values; can a new process rebuild them?
"""

from langgraph_once.floors import blame_old_packages

with blame_old_packages():
    from langgraph_once.serde.compression import has_checksum as has_checksum
    from langgraph_once.serde.encryption import (
        DAMAGED as DAMAGED,
        HEAD_BYTES as HEAD_BYTES,
        NO_KEY as NO_KEY,
        BoundTo as BoundTo,
        needed_key as needed_key,
    )
    from langgraph_once.serde.format import (
        PLAIN_TAGS as PLAIN_TAGS,
        Codec as Codec,
        Tag as Tag,
        lead_bytes as lead_bytes,
        may_be_bound as may_be_bound,
    )
    from langgraph_once.serde.limits import check_keys as check_keys, most_added as most_added
    from langgraph_once.serde.lookup import is_named_today as is_named_today
    from langgraph_once.serde.messages import rebuild_message
    from langgraph_once.serde.opaque import (
        STAND_INS as STAND_INS,
        Opaque,
        OpaqueBytes,
        OpaqueDict,
        OpaqueFloat,
        OpaqueInt,
        OpaqueList,
        OpaqueStr,
        UnreadableError,
        UnwritableError,
    )
    from langgraph_once.serde.plans.adapted import Adapter, SubclassAdapter
    from langgraph_once.serde.plans.exceptions import UnstoredError
    from langgraph_once.serde.serializer import (
        OnceSerializer,
        joined_path as joined_path,
        step_to as step_to,
    )
    from langgraph_once.serde.trust import (
        Audit,
        environment_line as environment_line,
        is_yours as is_yours,
        manifest_line as manifest_line,
        proposed as proposed,
        storable,
    )
    from langgraph_once.serde.types_in_rows import (
        RANKS as RANKS,
        Mention as Mention,
        TypeStatus as TypeStatus,
        TypeStatusChecker as TypeStatusChecker,
        Word as Word,
        mentions_in as mentions_in,
    )

__all__ = [
    "Adapter",
    "Audit",
    "OnceSerializer",
    "Opaque",
    "OpaqueBytes",
    "OpaqueDict",
    "OpaqueFloat",
    "OpaqueInt",
    "OpaqueList",
    "OpaqueStr",
    "SubclassAdapter",
    "UnreadableError",
    "UnstoredError",
    "UnwritableError",
    "rebuild_message",
    "storable",
]
