"""What all types need: the interface, and how attributes are read and set.

In: an instance, or untrusted data. Out: its attributes, or checked data.

    protocol.py    `Adapter`, `SubclassAdapter`, `Family`: what teaches the codec a type;
                   checks of untrusted data; what stands for parts that could not be stored
    attributes.py  the attributes of an instance, without code of its class; families made of them
"""
