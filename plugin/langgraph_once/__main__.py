"""`python -m langgraph_once` is `langgraph-once`."""

from langgraph_once.cli import main

if __name__ == "__main__":
    main()
