"""How objects of each kind of class are taken apart, and put together. `registry` asks these.

registry.py     which plan a class has, and what makes the objects of a head
base.py         what a plan and a form are
values.py       types of Python that their value is the whole of: dates, UUIDs, paths
records.py      objects that are their attributes: dataclasses, attrs classes, ordinary ones
models.py       pydantic models, of both versions
builtin.py      what is derived from built-in types; enums, collections
exceptions.py   exceptions
arrays.py       numpy
frames.py       pandas, polars
arrow.py        pyarrow
adapted.py      types that users teach
"""
