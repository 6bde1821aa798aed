"""A supervisor that plans, fans out to researchers, reports, and asks before it publishes."""
