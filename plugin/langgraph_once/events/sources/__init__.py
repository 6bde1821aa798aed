"""Where events come from: a graph to run, or a stream under way, in any shape.

graph_streams.py   what to ask a graph for, and what its state holds before the run
chunks.py          chunks of a stream under way to parts, whatever shape they have
protocol_parts.py  v3 protocol events to parts
"""
