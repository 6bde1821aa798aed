"""The bytes of codec `once1` to objects: what was met before quickly, all else with care.

In: bytes. Out: the object, or an error that says where in the value something is wrong.

    decoder.py           `Decoder`; start here
    simple_objects.py    makers of `MODEL`, `MODELS` and threads, which have a `HEAD`
    nested_objects.py    makers of `TREE`, and all makers that were found before
    extension_values.py  the value of any other extension; objects that would be freed too deep
    entries.py           the table: what `REF` stands for
    class_loader.py      the classes that the bytes name
    general_form.py      the same bytes without makers, where a class has changed or is refused
    error_path.py        where in the value is it?
    reference_growth.py  tables that grow too much
    type_names.py        which classes do the bytes name? Builds nothing
"""
