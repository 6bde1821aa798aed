"""Event streams on their way out: each thing once, and compressed. Pure ASGI."""

from langgraph_once.platform.sse.compression import SseCompression
from langgraph_once.platform.sse.deduplication import SseDeduplication

__all__ = ["SseCompression", "SseDeduplication"]
