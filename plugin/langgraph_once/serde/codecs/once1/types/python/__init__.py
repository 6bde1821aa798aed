"""The types of the standard library.

In: an instance. Out: its data, of simpler types; and back.

    scalars.py             complex, Fraction, Decimal, range, slice, `...`
    times.py               dates, times, time zones
    identifiers.py         UUIDs, paths, patterns, IP addresses, URLs, secrets
    enums.py               members of enums, combinations of flags
    containers.py          deque, OrderedDict, arrays, and subclasses of mutable containers
    builtin_subclasses.py  subclasses of `str`, `int`, `tuple` and the like; named tuples
    exceptions.py          exceptions and groups of them
    generics.py            `list[int]`, `Box[int]`
    partials.py            `functools.partial` and the like
"""
