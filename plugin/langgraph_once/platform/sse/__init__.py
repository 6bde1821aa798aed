"""A server's event streams go in; each thing once, in fewer bytes, comes out. Pure ASGI.

deduplication.py       leaves out what the reader has
stream_compression.py  compresses, event by event
encodings.py           which encoding a client likes best, and the encoders
headers.py             which responses may be rewritten
raw_frames.py          bytes to frames, which keep their bytes, and back
"""

from langgraph_once.platform.sse.deduplication import SseDeduplication
from langgraph_once.platform.sse.stream_compression import SseCompression

__all__ = ["SseCompression", "SseDeduplication"]
