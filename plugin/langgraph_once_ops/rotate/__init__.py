"""What is encrypted goes in; how much of it needs which key comes out."""

from langgraph_once_ops.rotate.key_use import KeyUse, key_use

__all__ = ["KeyUse", "key_use"]
