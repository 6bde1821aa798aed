"""The zoo by name, as a server looks graphs up: in the globals of a module."""

from tests.clients.graphs import ZOO
from tests.clients.graphs.words import words
from tests.clients.random_graphs import random_graph

__all__ = ["random_graph", "words"]

globals().update({animal.name: animal.graph for animal in ZOO})
