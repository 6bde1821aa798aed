"""Events of protocol v3 in, the events that the consumer lacks out.

protocol     Decides which events are sent, in the form that the reader needs; start here.
reading      What an event says, and what the filter tells the transformers about it.
transformer  How that hangs in a v3 run: channel `once`, and what `run.messages` is given.
"""
