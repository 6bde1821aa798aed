"""What a message says, in a form that two deliveries of it can be compared by.

Usage, response metadata and ids may differ between a streamed message and the copy in the
state; what it says may not. Text is compared as text, so that tokens can be compared with
the whole; the rest by value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    BaseMessageChunk,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_chunk_to_message,
)

AUTO_ID_PREFIX = "lc_run-"
"""How the ids begin that LangChain makes for what a model run says without one."""

TEXT_BLOCKS = frozenset({"text", "text_delta"})
CALL_BLOCKS = frozenset(
    {"tool_use", "input_json_delta", "tool_call", "tool_call_chunk", "function_call"}
)
THOUGHT_KEY = "reasoning_content"
# They tell where a block stands, not what it says; Anthropic signs thoughts in their last chunk.
PLACE_KEYS = frozenset({"type", "index", "id", "signature"})

SPEAKERS: Mapping[type, str] = {AIMessage: "ai", HumanMessage: "human", SystemMessage: "system"}

Space: TypeAlias = Literal["same", "ends", "any"]
"""Where two texts that count as the same may differ in white space, if anywhere."""

Call = tuple[str | None, str | None, str]


class Content(NamedTuple):
    """What a message says.

    Attributes:
        kind: Who says it: `ai`, `human`, `tool`, … the same for a message and its chunks.
        text: The text of all text blocks, in order.
        calls: Tool calls as (id, name, arguments as canonical JSON).
        rest: Everything else: other content blocks, and what a tool result carries besides.
    """

    kind: str
    text: str
    calls: tuple[Call, ...] = ()
    rest: tuple[Any, ...] = ()

    def suffix_of(self, longer: Content) -> str | None:
        """The text that `longer` has beyond this; None where more than text differs."""
        if self._replace(text="") != longer._replace(text=""):
            return None
        if not longer.text.startswith(self.text):
            return None
        return longer.text[len(self.text) :]

    def begins_with(self, other: Content) -> bool:
        """Whether this says all that `other`, which was cut short, says as far as it goes."""
        said = dict(self.rest)
        return (
            bool(other.text or other.rest)
            and self.text.startswith(other.text)
            and all(said.get(kind, "").startswith(words) for kind, words in other.rest)
        )

    def is_copy_of(
        self, original: Content, *, in_any_role: bool = False, space: Space = "same"
    ) -> bool:
        """Whether this repeats what `original` says, perhaps without its thoughts.

        Whoever makes a new message of an answer takes the text and the calls; blocks of other
        kinds may be left behind. With `in_any_role` somebody else may say it: a supervisor
        hands on what an agent said as if a human had. White space may differ at the ends, where an
        answer is stripped, or anywhere, where it is parsed as JSON and written anew.
        """
        if space != "same":
            mine, its = self.spaced(space), original.spaced(space)
            return mine.is_copy_of(its, in_any_role=in_any_role)
        if self == original:
            return True
        if not self.text or self.rest:
            return False
        # A human message has no calls: a supervisor hands on the text alone.
        if in_any_role and self.kind == "human":
            return self.text == original.text
        return self == original._replace(rest=())

    def spaced(self, space: Space) -> Content:
        """The same without the white space that may differ."""
        words = {"same": self.text, "ends": self.text.strip(), "any": "".join(self.text.split())}
        return self._replace(text=words[space])


def content_of(message: BaseMessage) -> Content:
    """What a whole message says.

    Fields that are assigned are not validated: what cannot be read so is compared as it stands.
    """
    if (text := mere_text(message)) is not None:
        return Content(SPEAKERS[type(message)], text)
    try:
        texts: list[str] = []
        blocks: dict[str, list[str]] = {}
        _read(message.content, message.additional_kwargs, texts, blocks)
        rest = _joined(blocks)
        if isinstance(message, ToolMessage):
            rest = (*rest, (message.tool_call_id, message.status, repr(message.artifact)))
        return Content(_kind(message), "".join(texts), _calls(message), rest)
    except Exception:
        return Content(_kind(message), "", (), (("malformed", repr(message.__dict__)),))


def mere_text(message: BaseMessage) -> str | None:
    """What a message says that is nothing but a text, as most do; None of any other."""
    said = vars(message).get
    text = said("content")
    if type(text) is not str or type(message) not in SPEAKERS or said("additional_kwargs"):
        return None
    return None if said("tool_calls") or said("invalid_tool_calls") else text


def as_whole(message: BaseMessage) -> BaseMessage:
    """A message as the reducer keeps it, and as readers know it that is not said in chunks."""
    return message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message


class Details(NamedTuple):
    """What a message carries beside what it says."""

    name: Any
    kwargs: Mapping[str, Any]
    metadata: Mapping[str, Any] | None
    """None where it is not known, as of what streamed: each chunk may have a part of it."""

    def gained_by(self, later: Details) -> Details | None:
        """What `later` has besides; None if it changes or lacks what this has."""
        before, now = self.metadata, later.metadata or {}
        is_named = self.name is not None
        if (is_named and self.name != later.name) or not _has_all(later.kwargs, self.kwargs):
            return None
        if before is not None and not _has_all(now, before):
            return None
        kwargs = {key: value for key, value in later.kwargs.items() if key not in self.kwargs}
        about = {} if before is None else {k: v for k, v in now.items() if k not in before}
        return Details(None if is_named else later.name, kwargs, about)


NO_DETAILS = Details(None, {}, {})


def _has_all(now: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    return all(
        value is ... or (key in now and _equal(now[key], value)) for key, value in before.items()
    )


def _equal(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other)
    except Exception:  # of arrays, say
        return True


def details_of(message: BaseMessage) -> Details:
    """Copy what a message carries beside what it says: a node may change the message in place."""
    said = vars(message).get  # past pydantic: a thread may have many messages
    name, kwargs, metadata = said("name"), said("additional_kwargs"), said("response_metadata")
    if name is None and not kwargs and not metadata:
        return NO_DETAILS
    return Details(name, {**(kwargs or {})}, {**(metadata or {})})


class StreamedContent:
    """What the chunks of one message have said so far; cheap to extend by a token.

    Attributes:
        add_text: `extend` by a chunk that is nothing but text, and not empty.
        has_usage: Whether one of them told the usage.
    """

    def __init__(self, first: BaseMessageChunk) -> None:
        self._kind = _kind(first)
        self._texts: list[str] = []
        self.add_text: Callable[[str], None] = self._texts.append
        self._calls: dict[Any, list[str]] = {}
        self._blocks: dict[str, list[str]] = {}
        self._content: Content | None = None
        self._told = 0, 0
        self.has_usage: bool = False
        self._name = first.name
        self._keys: dict[str, Any] = {}
        self.extend(first)

    @property
    def details(self) -> Details:
        """What they carry besides; of values that add up from chunks, the keys alone."""
        return Details(self._name, self._keys, None)

    @property
    def size(self) -> int:
        """How many characters they said."""
        counted, size = self._told
        self._told = len(self._texts), size + sum(map(len, self._texts[counted:]))
        return self._told[1] + sum(len(words) for said in self._blocks.values() for words in said)

    def extend(self, chunk: BaseMessageChunk) -> None:
        """Add what a chunk says."""
        self._content = None
        _read(chunk.content, chunk.additional_kwargs, self._texts, self._blocks)
        if chunk.additional_kwargs:
            self._keys.update(dict.fromkeys(chunk.additional_kwargs, ...))
        if type(chunk) is not AIMessageChunk:
            return
        self.has_usage = self.has_usage or chunk.usage_metadata is not None
        for piece in chunk.tool_call_chunks or ():
            place: Any = piece.get("index")
            if place is None:
                # Some integrations give no index; their chunks have whole calls.
                place = piece.get("id") or len(self._calls)
            call = self._calls.setdefault(place, ["", "", ""])
            for field, key in enumerate(("id", "name", "args")):
                call[field] += piece.get(key) or ""  # type: ignore[operator]  # these are text

    def accumulates(self, chunk: AIMessageChunk) -> bool:
        """Whether a last chunk says all over again what the chunks before it said (D8)."""
        content, pieces = chunk.content, chunk.tool_call_chunks
        if not isinstance(content, str) or not (content or pieces):
            return False
        # One chunk before it may have said the same on purpose ("ha", "ha"); several do not.
        if content and (len(self._texts) < 2 or content != "".join(self._texts)):
            return False
        calls = list(self._calls.values())
        return all(
            piece["id"] and [piece["id"], piece["name"], piece["args"]] in calls for piece in pieces
        )

    def content(self) -> Content:
        """The content so far, comparable with `content_of` a whole message."""
        text = "".join(self._texts)
        # `add_text` is a list's own `append`, for speed, and cannot clear what was computed before.
        if self._content is None or len(text) != len(self._content.text):
            calls = tuple(
                (id_ or None, name or None, _canonical_json(args))
                for id_, name, args in self._calls.values()
            )
            self._content = Content(self._kind, text, calls, _joined(self._blocks))
        return self._content


def _kind(message: BaseMessage) -> str:
    return str(message.type).removesuffix("MessageChunk").lower()


def _read(
    content: Any, kwargs: dict[str, Any], texts: list[str], blocks: dict[str, list[str]]
) -> None:
    """Sort what a message says into text and other blocks; tool calls are read elsewhere.

    Blocks of a kind that streams (reasoning, thinking) arrive in pieces whose strings add up,
    so the strings under the same keys are joined to compare.
    """
    if isinstance(content, str):
        if content:
            texts.append(content)
        content = ()
    for block in content:
        kind = "text" if isinstance(block, str) else str(block.get("type", ""))
        if kind in TEXT_BLOCKS:
            texts.append(block if isinstance(block, str) else str(block.get("text", "")))
        elif kind not in CALL_BLOCKS:
            for path, words in _strings(block, kind):
                blocks.setdefault(path, []).append(words)
    thought = kwargs.get(THOUGHT_KEY) if kwargs else None
    if isinstance(thought, str) and thought:
        blocks.setdefault(THOUGHT_KEY, []).append(thought)


def _joined(blocks: dict[str, list[str]]) -> tuple[Any, ...]:
    return tuple(sorted([(kind, "".join(said)) for kind, said in blocks.items()]))


def _calls(message: BaseMessage) -> tuple[Call, ...]:
    if not isinstance(message, AIMessage):
        return ()
    calls, invalid = message.tool_calls, message.invalid_tool_calls
    known = [(call.get("id"), call["name"], _canonical(call.get("args"))) for call in calls]
    odd = [(call.get("id"), call.get("name"), call.get("args") or "") for call in invalid]
    return (*known, *odd)


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """The strings in a block, each with the keys that lead to it."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in PLACE_KEYS:
                yield from _strings(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, path)
    else:
        yield path, value if isinstance(value, str) else repr(value)


def _canonical(args: Any) -> str:
    # Providers and reducers may order keys otherwise; the call is the same.
    return json.dumps(args, sort_keys=True, default=repr)


def _canonical_json(args: str) -> str:
    try:
        return _canonical(json.loads(args or "{}"))
    except ValueError:
        return args


def is_auto(message_id: str) -> bool:
    """Whether an id is LangChain's own, for a provider that gives none."""
    return message_id.startswith(AUTO_ID_PREFIX)
