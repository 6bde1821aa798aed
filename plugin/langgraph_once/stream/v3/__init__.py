"""Events of protocol v3 in, the events that the consumer lacks out.

events       Decides which events are sent; start here.
forms        What any reader of v3 needs; what one gets that announced itself.
protocol     The form for a stock client over a network.
reading      What an event says, and what the filter tells the transformers about it.
transformer  How that hangs in a v3 run: channel `once`, and what `run.messages` is given.
"""
