"""A value goes in; cells of rows and pieces come out. And back. No I/O.

values.py          values to cells: whole, or cut; and back
piece_manifest.py  of which pieces a value consists, and how values were cut a moment ago
cut.py             where bytes are cut, how pieces are named, and what a change leaves of them
collect.py         which pieces a database lacks, and which are needed to put a value together
"""
