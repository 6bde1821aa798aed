"""A travel agent, built as most people build theirs: `create_agent` with tools and middleware."""
