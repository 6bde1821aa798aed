"""The corpus: small graphs that say things more than once, or lose them, with exact oracles.

    scenarios/   the graphs, each with what its consumer must have in the end
    variants     the ways to stream a graph
    play         one scenario in one variant from one source: events
    consumer     a stock client: folds events to copies of what was said
    score        copies against the oracle: right, repeated, lost
    report       `python -m tests.corpus.report`: the score table, and single plays to read

A unit is one piece of content: the text of one message, a tool call, a thought, a block.
"""
