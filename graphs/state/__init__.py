"""A state of many types: what comes back from its checkpoint, and what does not."""
