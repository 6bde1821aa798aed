"""Graphs by chance under their names."""

from tests.clients.graphs.chance import by_chance

__all__ = ["BY_CHANCE"]

BY_CHANCE = [by_chance(seed) for seed in range(200)]

globals().update({animal.name: animal.graph for animal in BY_CHANCE})
