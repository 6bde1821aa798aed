"""What reading one row may take: time, memory, stack. `docs/bounds.md` has the numbers.

In: bytes, or parts read from them. Out: nothing, or a `SizeLimitError`.

    weight.py           how many units do these bytes take? Asked before reading, and on writing
    budget.py           the units that are left while a row is read
    hashing.py          may these keys be hashed, or would that take for ever?
    costly_values.py    regular expressions, IP networks, flags: a few bytes that can take for ever
    msgpack_headers.py  from header to header through msgpack: for all who only look at bytes
"""
