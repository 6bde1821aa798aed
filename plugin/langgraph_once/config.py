"""What can be configured: frozen value objects, no I/O.

These classes are the single source of every setting's name, type, bounds, default and
meaning. `settings.py` fills them from `langgraph.json` and the environment; `.env.example`
and the JSON schema under `docs/` are generated from them. Each is made by `config`, which says in
one line what is wrong.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import timedelta
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, cast, dataclass_transform

import pydantic.dataclasses
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from langgraph_once.errors import ConfigError, shown

T = TypeVar("T")

REMOVED: Final[Mapping[str, str]] = {
    "dedup.history": "read the state of the thread for messages that a node returns unchanged",
    "dedup.tool_results": "each tool result with an id of its own is sent",
    "dedup.copies": "a copy may differ from the streamed text in white space",
    "dedup.discarded": "hide the model that says it, or drop what a MessageDiscardedEvent names",
    "dedup.malformed": "give dedup the chunks of one stream, and pass your own on beside it",
    "dedup.max_messages": "a Ledger knows 20,000 messages, or Ledger(max_messages=...) of dedup",
    "dedup.max_bytes": "a Ledger keeps 64 MB of text, or Ledger(max_bytes=...) of dedup",
    "checkpoint.statement_timeout_s": "set it for the role: ALTER ROLE ... SET statement_timeout",
    "serde.require_encryption": "ONCE_SERDE__ENCRYPTION=required refuses plaintext",
    "serde.bind_rows": "all is bound; ONCE_SERDE__ENCRYPTION=bound reads nothing else",
    "serde.max_decoded_objects": "2**28, or ONCE_SERDE__MAX_DECODED_BYTES if that is more",
    "serde.compression_level": "it is 1; ONCE_SERDE__COMPRESSION=none turns compression off",
    "serde.min_compress_bytes": "values of 256 bytes and more are compressed",
    "serde.codec": "ONCE_SERDE__COMPATIBLE=true writes what LangGraph's savers read",
    "checkpoint.compatible": "it is ONCE_SERDE__COMPATIBLE now",
}
"""Settings of earlier releases, as "section.key", each with what to do instead. Whoever sets one is
told so: what is passed over in silence might be what somebody relies on."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def config(cls: type[T]) -> type[T]:
    """Make `cls` a frozen, keyword-only dataclass that raises `ConfigError` on a wrong value."""
    decorate = pydantic.dataclasses.dataclass(
        frozen=True,
        kw_only=True,
        slots=True,
        config=ConfigDict(extra="forbid", hide_input_in_errors=True),
    )
    made = cast("type[T]", decorate(cls))
    setattr(made, "__init__", _raising_config_error(made.__init__))  # noqa: B010  # mypy's wish
    return made


def _raising_config_error(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def checked(self: Any, **values: Any) -> None:
        try:
            return init(self, **values)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
        # Raised behind the `except`: within it, the error would refer to the given values, which
        # may be secret.
        if isinstance(inner := first.get("ctx", {}).get("error"), ConfigError):
            raise ConfigError(inner.key, inner.problem)
        field = ".".join(shown(str(part)) for part in first["loc"])
        name = type(self).__name__
        gone = removed(name.removesuffix("Config").lower(), field)
        raise ConfigError(f"{name}.{field}", gone or first["msg"].removeprefix("Value error, "))

    return checked


def removed(section: str, field: str) -> str | None:
    """Return the problem of a setting of an earlier release; None if there was no such setting."""
    advice = REMOVED.get(f"{section}.{field}")
    return advice and f"was removed: {advice}"


class SchemaOf:
    """Says in an annotation that the JSON schema is that of a class of settings.

    Args:
        kind: The class.
        or_null: Whether `null` may stand there, too.
    """

    def __init__(self, kind: type, *, or_null: bool = False) -> None:
        self._kind = kind
        self._or_null = or_null

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        schema = schema_of(self._kind)
        return {"anyOf": [schema, {"type": "null"}]} if self._or_null else schema


def schema_of(kind: type) -> dict[str, Any]:
    """The JSON schema of a class of settings, in which each field says what its docstring says.

    Those are read when they are asked for. Pydantic's `use_attribute_docstrings` reads the source
    as it makes a class, which took a third of the time of `import langgraph_once`.
    """
    schema = TypeAdapter(kind).json_schema()
    declared: Any = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    for field, said in pairwise(declared.body):
        if isinstance(field, ast.AnnAssign) and isinstance(said, ast.Expr):
            meaning = inspect.cleandoc(ast.literal_eval(said.value))
            schema["properties"][ast.unparse(field.target)]["description"] = meaning
    return schema


ThreadStatus: TypeAlias = Literal["idle", "interrupted", "error", "unfinished"]
"""`idle`, `interrupted` and `error` as a server says them. `unfinished`: nodes are due, as a run is
under way, was stopped before a node, or was killed."""

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SPAN: Final = re.compile(r"(\d{1,6})([smhdw])")


def seconds_in(span: str) -> int:
    """The seconds in a span of time, as "90d".

    Raises:
        ValueError: It is none.
    """
    found = _SPAN.fullmatch(span)
    if found is None or not int(found[1]):
        raise ValueError(f"must be a number and one of s, m, h, d, w, as in '90d', got {span!r}")
    return int(found[1]) * _SECONDS[found[2]]


def _span(given: str) -> str:
    if given:
        seconds_in(given)
    return given


Span: TypeAlias = Annotated[str, AfterValidator(_span)]


@config
class RetentionConfig:
    """Which threads and checkpoints are deleted. Each selected thread is held against the rules;
    docs/retention.md has the table."""

    older_than: Span = ""
    """Rule: a thread whose last checkpoint is older than this is deleted whole, as "90d"; units are
    s, m, h, d and w. Empty: none is."""

    keep_last: Annotated[int, Field(ge=0)] = 0
    """Rule: of any other thread all but the last checkpoints of each namespace are deleted, so many
    are kept, and what they are read from. 0: all."""

    status: tuple[ThreadStatus, ...] = ()
    """Selects threads by what their last checkpoint says: "idle" has nothing to do, "interrupted"
    waits for an answer, "error" failed, of "unfinished" nodes are due: a run is under way, was
    stopped before a node, or was killed. Empty: all."""

    metadata: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Selects threads whose last checkpoint has all of these in its metadata. Empty: all."""

    every: Span = "1d"
    """How often a server looks, beginning a few minutes after its start."""

    @model_validator(mode="after")
    def _has_a_rule(self) -> RetentionConfig:
        if not (self.older_than or self.keep_last):
            raise ConfigError("RetentionConfig", "needs a rule: older_than, keep_last or both")
        return self

    @property
    def age(self) -> timedelta | None:
        """Of threads that are deleted whole."""
        return timedelta(seconds=seconds_in(self.older_than)) if self.older_than else None


def _retention(given: Any) -> RetentionConfig | None:
    if given is None or isinstance(given, RetentionConfig):
        return given
    if not isinstance(given, Mapping):
        known = "older_than, keep_last, status, metadata, every"
        raise ValueError(f"must be a mapping of {known}, got {type(given).__name__}")
    try:
        return RetentionConfig(**{shown(str(key)): value for key, value in given.items()})
    except ConfigError as error:
        field = error.key.partition(".")[2]
        problem = f"{field}: {error.problem}" if field else error.problem
    raise ValueError(problem)


Retention: TypeAlias = Annotated[
    RetentionConfig | None,
    BeforeValidator(_retention),
    SchemaOf(RetentionConfig, or_null=True),
]


__all__ = [
    "READER_CHECKPOINT",
    "READER_KEY",
    "CheckpointConfig",
    "DedupConfig",
    "HideConfig",
    "HttpConfig",
    "Names",
    "Patterns",
    "RemoteConfig",
    "RetentionConfig",
    "SerdeConfig",
    "StoreConfig",
]


def _names(given: Any) -> frozenset[str]:
    if not isinstance(given, frozenset | set | list | tuple):
        raise ValueError(f"must be a list, as in ['draft'], got {type(given).__name__}")
    if not all(isinstance(name, str) and name for name in given):
        raise ValueError("must hold texts that are not empty")
    return frozenset(given)


def _patterns(given: frozenset[str]) -> frozenset[str]:
    for pattern in sorted(given):
        if "" in pattern.split("/") or ":" in pattern or "|" in pattern:
            raise ValueError(
                f"has {pattern!r}; a pattern is names of nodes joined by '/', as 'research/*', "
                "without ids of tasks"
            )
    return given


Names: TypeAlias = Annotated[
    frozenset[str] | set[str] | tuple[str, ...] | list[str],
    BeforeValidator(_names),
    WithJsonSchema({"type": "array", "items": {"type": "string", "minLength": 1}}),
]
"""Texts that are not empty."""

Patterns: TypeAlias = Annotated[Names, AfterValidator(_patterns)]
"""Names of graphs and nodes, of which some may be left open."""


@config
class HideConfig:
    """Whose messages are left out of `messages`: those that one of these picks."""

    nodes: Names = frozenset()
    """Names of nodes: what they say, and all that is said inside them."""

    namespaces: Patterns = frozenset()
    """Patterns of graphs and nodes: `main` is the outermost graph, `research` a graph or node of
    that name wherever it is, `research/*` what is right inside it, `**` everything."""

    tags: Names = frozenset()
    """Tags of models; with "nostream" a message of a model so tagged does not come whole either."""

    models: Names = frozenset()
    """Models, each by its name (`ls_model_name` of the metadata, as "gpt-5-mini") or by the name
    that its run was given (`run_name` of the config)."""

    def __or__(self, other: HideConfig) -> HideConfig:
        """What either of the two hides."""
        names = [field.name for field in fields(cast("Any", self))]
        return HideConfig(**{name: {*getattr(self, name), *getattr(other, name)} for name in names})


def _hide_config(given: Any) -> HideConfig:
    if isinstance(given, HideConfig):
        return given
    known = [field.name for field in fields(cast("Any", HideConfig))]
    if not isinstance(given, Mapping):
        raise ValueError(f"must be a mapping of {', '.join(known)}, got {type(given).__name__}")
    if unknown := [shown(str(key)) for key in given if key not in known]:
        raise ValueError(f"does not know {unknown[0]!r}; it knows {', '.join(known)}")
    return HideConfig(**given)


Hide: TypeAlias = Annotated[
    HideConfig | Mapping[str, Any],
    BeforeValidator(_hide_config),
    SchemaOf(HideConfig),
]


READER_KEY: Final = "__once_reader"
"""Under this key of `config["configurable"]` a reader says that it knows what only `once` writes:
retractions, drafts and the key `once` of the metadata. Any other reader, of a server or of a graph
in its own process, is sent what stock clients fold rightly."""

READER_CHECKPOINT: Final[Any] = {READER_KEY: "2"}
"""Announces such a reader: `client.runs.stream(…, checkpoint=READER_CHECKPOINT)`.

"2" asks for numbers on messages too, which "1" does not; servers before them know no difference.

What stands in `checkpoint` the server copies to `config["configurable"]`, of this run alone, and
with no `checkpoint_id` there it starts from the newest (measured with langgraph-api 0.16.7). A
header does not get there unless `http.configurable_headers` of the server includes it;
`configurable` of a request is refused beside a `context`, and copied to it where there is none;
`metadata` of a run that makes its thread stays with the thread, for its next readers too. As the
key begins with `__`, it is in no metadata of messages and checkpoints. The
JavaScript server takes it, and drops it (2.0.0)."""

TypeName = Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")]  # `module:QualifiedName`


def _unseen(value: Any, validate: Callable[[Any], Any]) -> Any:
    """Refuse `value` as one: the error about a part of it would name a key."""
    try:
        return validate(value)
    except ValidationError:
        pass
    raise ValueError('must be keys by their names, as in {"2026-11": "<base64 of 32 bytes>"}')


def _without_password(path: str) -> str:
    _, has_scheme, rest = path.partition("://")
    _, _, password = rest.rpartition("@")[0].partition(":")
    if has_scheme and (password or "password=" in rest):
        raise ValueError("holds a password; set the environment variable ONCE_DATABASE_URL instead")
    return path


@config
class SerdeConfig:
    """How values become bytes. Writes obey it; reads obey the tag stored beside the bytes."""

    compatible: bool = False
    """Write rows that LangGraph's own savers read, while replicas with such a saver use the
    database: in LangGraph's format, which does not keep every type, not compressed, and whole.
    Encryption keys are refused then."""

    compression: Literal["zstd", "none"] = "zstd"
    """Compress written values."""

    max_decoded_bytes: Annotated[int, Field(ge=1024)] = 256 * 1024 * 1024
    """The most bytes that one value may decompress to. To build its objects may take 4 GB of
    memory; if this limit is above 256 MB, more. A value that might exceed these limits is not
    written, so every written value can be read. docs/security.md has figures."""

    on_unavailable: Literal["raise", "opaque"] = "opaque"
    """On reading, an object whose class is gone or refused: return what LangGraph would hand on (a
    dict of its fields, a text, a list), which knows the name of the class and is written back
    unchanged; or refuse the whole value."""

    adapters: tuple[TypeName, ...] = ()
    """Your own adapters for types that "once2" does not know, each an `Adapter` or a
    `SubclassAdapter`, as "module:name"."""

    aliases: dict[TypeName, TypeName] = Field(default_factory=dict)
    """Classes that moved: their old "module:Name" to the new one."""

    upgrades: dict[TypeName, TypeName] = Field(default_factory=dict)
    """Classes that changed: "module:Name" to a function (data, from_version) -> data, as
    "module:function". For dataclasses, attrs classes and pydantic models, the data is a dictionary
    of their attributes. The version is the class's `__once_version__` when the row was written, 0
    if it had none. docs/values.md has the rest."""

    allowed_types: tuple[TypeName, ...] = ()
    """Your own types that may be loaded, each as "module:Name"; those marked `storable` may be."""

    enforcement: Literal["safe", "strict", "warn", "open"] = "safe"
    """Which types may be loaded besides the allowed ones. "safe": data classes (pydantic models,
    dataclasses, enums, exceptions and the like) of packages that are imported, or that the
    project's source imports; "strict": none, and "once2" does not write them; "open": all, as
    LangGraph does; "warn": all, with a warning for each class."""

    source: tuple[str, ...] = ()
    """Folders of your own source, and files of graphs: reading may import the packages that these
    import. A server adds the graphs of `langgraph.json`, and uses its `dependencies` if no folders
    are named."""

    encryption: Literal["auto", "required", "bound"] = "auto"
    """What the serializer refuses. "auto": nothing. "required": plaintext, on writing and reading.
    "bound": plaintext, and on reading also values that are bound to no row, such as those of
    version 0.1. Whoever has keys writes everything encrypted, and each value bound to its row, so
    that no value can take the place of another."""

    readable_metadata: tuple[str, ...] = ()
    """Metadata of checkpoints that keys leave readable, besides what servers filter by: `source`,
    `step`, `parents`, `run_attempt`, `counters_since_delta_snapshot`, `run_id`, `thread_id`,
    `graph_id` and `assistant_id`. All others, such as user ids and configurables, are one encrypted
    value. "*" leaves all readable."""

    encryption_keys: Annotated[dict[str, SecretStr], WrapValidator(_unseen)] = Field(
        default_factory=dict, repr=False
    )
    """AES keys by name, base64 of 16, 24 or 32 bytes; the last encrypts, all decrypt. Secret."""

    @property
    def allows_plain(self) -> bool:
        """Whether what is not encrypted is written and read."""
        return self.encryption == "auto"


@config
class CheckpointConfig:
    """Where threads are kept, and how."""

    path: Annotated[str, AfterValidator(_without_password)] = ".langgraph_once/checkpoints.sqlite"
    """SQLite database file, relative to the working directory; a missing folder is made. Or the URL
    of a database: "sqlite:///threads.sqlite", "postgresql://user@host/database". Put a URL with a
    password into ONCE_DATABASE_URL."""

    store_once: bool = True
    """Cut long values into pieces and store each piece once for a thread; LangGraph's savers
    cannot read these rows. If off, rows hold whole values; values in pieces stay readable."""

    schema: str = ""
    """PostgreSQL: the schema of the tables; made if missing. Empty: that of the connection."""

    pool_max_size: Annotated[int, Field(ge=1)] = 10
    """PostgreSQL: the most connections, for each event loop of the server."""

    transaction_pooler: bool = False
    """PostgreSQL: a pooler such as PgBouncer gives each transaction another session."""

    retention: Retention = None
    """What servers delete by and by, in the background, as {"keep_last": 20, "older_than": "90d"}.
    The keys are those of `langgraph-once prune`, and `every`; docs/retention.md has them. null:
    nothing is deleted."""


@config
class StoreConfig:
    """Where long-term memory is kept. Its values are encrypted with the keys of `serde`."""

    path: Annotated[str, AfterValidator(_without_password)] = ""
    """SQLite database file, or the URL of a database, as ONCE_CHECKPOINT__PATH. If empty, beside
    the threads: in the same PostgreSQL, or in store.sqlite in the folder of their file."""

    allow_vectors: bool = False
    """Keep the vectors of `store.index` although `encryption` is not "auto". Vectors are not
    encrypted, and a vector reveals something of its text."""


@config
class DedupConfig:
    """What counts as a repetition, and how one is avoided."""

    state: Literal["full", "changed", "new_messages", "auto"] = "full"
    """What `updates` and `values` carry in exact form. "full": everything, but no unchanged
    state twice; "changed": the changed keys of a state; "new_messages": of message lists the
    messages not delivered yet; "auto": "new_messages" if several modes would repeat messages,
    "full" if one mode is alone. In stock form they carry everything."""

    reexecution: Literal["retract", "hold"] = "retract"
    """When a task runs again, after an error or an interrupt: "retract" its earlier messages with a
    `RemoveMessage`, or "hold" back its new messages while they repeat the earlier ones (v3 cannot,
    and retracts)."""

    form: Literal["auto", "stock", "exact"] = "auto"
    """The form of the stream. "stock": under one message id either chunks or one whole message;
    removals and edits are left to `values` and `updates`, and there is no annotation. "exact":
    everything that folds to the state at every moment. "auto": "exact" for readers that announce
    themselves (`ChannelStreamingProcessor`, `dedup`, `OnceRemoteGraph`, `stream_run`, the page),
    else "stock". Protocol v3 is exact within a process."""

    hide: Hide = HideConfig()
    """Which messages `messages` leaves out, as tokens, whole, and as copies that a node
    returns: a `HideConfig`, or a mapping of its fields, such as {"tags": ["nostream"]}. States hold
    hidden messages, too. By default nothing is hidden."""


@config
class HttpConfig:
    """What `http.app` adds to the server: routes, and how it sends its event streams."""

    expose_config: bool | Literal["auto"] = "auto"
    """Answer `GET /once/config` with the settings in force, without secrets, paths and names of
    keys. true: to all. false: to nobody (404). "auto": to users that the server has authenticated
    (`http.enable_custom_route_auth`); if the server authenticates nobody, to the machine of a
    `langgraph dev`, without a proxy in between."""

    page: Literal["auto", "on", "off"] = "auto"
    """Serve the page at `/once`, which runs graphs by the server's API as the user of the browser.
    "auto": to users that the server has authenticated, and to the machine of a `langgraph dev`,
    without a proxy in between."""

    sse_encodings: tuple[Literal["zstd", "br", "gzip"], ...] = ("zstd", "br", "gzip")
    """Encodings of event streams, best first; a token takes a thirtieth of its bytes. "br" needs
    the package brotli. An empty list turns compression off, which is safer if cookies authenticate
    and streams hold secrets: sizes reveal something of both to a listener."""

    metrics: bool = False
    """Serve the metrics of this package at `GET /once/metrics`, as Prometheus reads them, to all
    who reach the server. Needs the extra `metrics`. The server's own `/metrics` stays as it is.
    docs/metrics.md lists them."""


@config
class RemoteConfig:
    """How a client reads the runs of a server, over as many connections as that takes."""

    max_retries: Annotated[int, Field(ge=0)] = 10
    """How often in a row to connect again in vain: at once, then after waits that double from a
    tenth of a second to ten. A connection that brought something new, or was open for ten seconds,
    was not in vain."""

    idle_timeout_s: Annotated[float, Field(gt=0)] | None = 15
    """After how long without a byte an event stream counts as cut; in seconds. Servers send a
    heartbeat every five, so 15 notices a dead connection soon; one that sends none is asked again,
    and nothing is lost. It holds for streams that the server offers to resume; for all else the
    client's own read timeout does, by default 300 seconds. None: that one alone."""
