"""A server's event streams go in; the same in fewer bytes comes out. Pure ASGI.

stream_compression.py  compresses, event by event
encodings.py           which encoding a client likes best, and the encoders
headers.py             which responses may be rewritten
"""

from langgraph_once.platform.sse.stream_compression import SseCompression

__all__ = ["SseCompression"]
