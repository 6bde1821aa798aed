"""Events of protocol v3 in, the events that the consumer lacks out.

events        Events to parts, decided, and back; start here.
exact         The operations for readers in this process, or that announced themselves.
protocol      The operations for a stock client over a network.
marks         What the filter tells the transformers about an event.
transformer   How that hangs in a v3 run, and channel `once`.
run_messages  What upstream's list of messages is given.
"""
