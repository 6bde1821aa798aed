"""Two desks of a travel office that hand a customer over to each other."""
