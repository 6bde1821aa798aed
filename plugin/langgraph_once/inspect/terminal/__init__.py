"""What a stock consumer of a graph has, beside what ours has, in numbers.

comparison.py  runs the graph for both, and counts

Needs the extra `cli`.
"""
