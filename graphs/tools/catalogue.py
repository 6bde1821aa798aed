"""What the shop sells, and a press that jams now and then."""

__all__ = ["PRICES_EUR", "print_card"]

PRICES_EUR = {"brass lamp": 180, "oak table": 640, "reading chair": 390, "wool rug": 260}

_jammed: set[str] = set()


def print_card(order: str) -> None:
    """Print the card of an item. The press jams on each order once.

    Args:
        order: Names the order; it stays the same when the order is tried again.

    Raises:
        ConnectionError: The press is jammed.
    """
    if order not in _jammed:
        _jammed.add(order)
        raise ConnectionError("the press is jammed; send the card again")
    _jammed.discard(order)
