"""A value goes in; cells of rows and pieces come out. And back. No I/O.

values.py          values to cells: whole, or cut; and back
piece_manifest.py  of which pieces a value consists
levels.py          pieces, groups of pieces, and what a change leaves of them
recent_values.py   remembers how values were cut a moment ago
cut.py             where bytes are cut, and how pieces are named
collect.py         which pieces a database lacks, and which are needed to put a value together
"""
