"""What all types need: the interface, and how attributes are read and set.

In: an instance, or untrusted data. Out: its attributes, or checked data.

    protocol.py    `Adapter`, `SubclassAdapter`, `Family`: what teaches the codec a type
    attributes.py  the attributes of an instance, without code of its class; families made of them
    checks.py      is this untrusted data of the shape that it must have?
    unstored.py    what stands for the parts of an exception that could not be stored
"""
