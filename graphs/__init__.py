"""Sample graphs: they import the package, and nothing imports them."""
