"""Parts in, events out.

part_reader.py     the way in: which kind of part goes where; UI messages; how a stream ends
messages.py        tokens, whole messages, replacements and removals
open_message.py    a message while it streams
tool_calls.py      the life of a tool call: fragments, started, whole, failed, answered
thread_memory.py   what is known of a thread: messages that ended, calls, UI messages, bounded
content_blocks.py  text, reasoning and calls in a message, as each provider writes them
channels.py        keys of the state, from `values` and `updates`, and artifacts in them
"""
