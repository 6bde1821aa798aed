"""Where events come from: a graph to run, or a stream under way, in any shape.

graphs.py    what to ask a graph for, and what its state holds before the run
chunks.py    chunks of a stream under way to parts, whatever shape they have
protocol.py  v3 protocol events to parts
"""
