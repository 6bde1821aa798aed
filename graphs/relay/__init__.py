"""A graph that asks another graph of the same server."""
