"""One long answer, to weigh what a token costs."""

from tests.clients.graphs.pieces import says
from tests.corpus.graphs import chain

__all__ = ["TOKENS", "words"]

TOKENS = 300

words = chain(says(" ".join(f"word{at:03}" for at in range(TOKENS)), delay_s=0.001))
