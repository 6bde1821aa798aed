"""Events of protocol v3 in, the events that the consumer lacks out.

events       Decides which events are sent; start here.
protocol     What any reader of v3 needs; the form for a stock client over a network.
reading      What an event says, and what the filter tells the transformers about it.
transformer  How that hangs in a v3 run: channel `once`, and what `run.messages` is given.
"""
