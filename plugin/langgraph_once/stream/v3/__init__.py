"""Events of protocol v3 in, the events that the consumer lacks out.

events         Events to parts, deduplicated, and back; start here.
transformer    How that hangs in a v3 run, and channel `once`.
protocol       What a stock client over a network is sent.
open_messages  How the message of a model that failed is ended.
"""
