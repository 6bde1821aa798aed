"""Which adapter or family writes and reads which type, and under which name.

In: a class, or a name from the bytes. Out: its `Writer`, its name, or whether it is trusted.

    registry.py       the adapters and families of one serializer: the user's, then the built-in
    class_names.py    `module:Qual.Name`: the name of a class, and the class of a name
    parametrised.py   the names of generic classes with parameters
    class_trust.py    which code runs when it is read? And what does a writer warn of?
    upgrades.py       rows of classes that have changed since
"""
