"""A state or an update in, the same without what the consumer has out.

state_cut  How one state is walked, and messages are left out of it; start here.
unchanged  Which states and updates come again as they were.
"""
