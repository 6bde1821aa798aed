"""The graphs by name, as a server looks them up: in the globals of a module."""

from __future__ import annotations

from tests.clients.graphs import ZOO
from tests.clients.graphs.pieces import says
from tests.corpus.graphs import chain

globals().update({animal.name: animal.graph for animal in ZOO})


TOKENS = 300
"""What a token costs is weighed with an answer of so many."""

words = chain(says(" ".join(f"word{at:03}" for at in range(TOKENS)), delay_s=0.001))
