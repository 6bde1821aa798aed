"""A shop's assistant: its tools show their progress, draw, and fail; its promises are checked."""
