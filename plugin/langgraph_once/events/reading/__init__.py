"""Parts in, events out.

part_reader.py          the way in: which kind of part goes where; how a stream ends
messages.py             tokens, whole messages, replacements and removals
open_message.py         a message while it streams
recent_keys.py          finished messages, and others that may still be spoken of, bounded
tool_calls.py           the life of a tool call: started, whole, failed, answered
tool_call_fragments.py  the calls of one message while it streams
content_blocks.py       text, reasoning and calls in a message, as each provider writes them
channels.py             keys of the state, from `values` and `updates`
artifacts.py            which elements of a value are new or changed
ui_messages.py          LangGraph's UI messages
"""
