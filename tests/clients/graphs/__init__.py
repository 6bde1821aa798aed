"""The zoo: small graphs, each of which says a thing in its own way."""

from tests.clients.graphs import changing, everyday, repeating
from tests.clients.graphs.zoo import Animal

__all__ = ["ZOO", "Animal"]

ZOO = (*everyday.ANIMALS, *repeating.ANIMALS, *changing.ANIMALS)
