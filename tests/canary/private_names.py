"""What the package uses of upstream's private parts: the one list of it.

A private name may go with any release. `test_private_names` checks that each is there still, and
that the package uses no other; `make canary` does so with the newest versions and runs the tests
that the names give. Where one is gone, `why` says what the package wants of it.
"""

from typing import Final, NamedTuple


class Private(NamedTuple):
    """A name, why we use it, the oldest release we have seen it in, the test file that shows it."""

    module: str
    name: str
    why: str
    since: str
    test: str


_HANDLER: Final = "langgraph.pregel._messages"
_REMOTE: Final = "langgraph.pregel.remote"
_REMOTE_V3: Final = "langgraph.pregel._remote_run_stream"
_CONFIG: Final = "langgraph._internal._config"
_CONSTANTS: Final = "langgraph._internal._constants"
_JSONPLUS: Final = "langgraph.checkpoint.serde.jsonplus"
_MSGPACK: Final = "langgraph.checkpoint.serde._msgpack"
_LANGGRAPH: Final = "langgraph 1.2.22"
_CHECKPOINT: Final = "langgraph-checkpoint 4.3.2"
_SDK: Final = "langgraph-sdk 0.4.14"
_PANDAS: Final = "pandas 2.3"
_NUMPY: Final = "numpy 2.1"

PRIVATE: Final = (
    # Streams of a graph that runs here
    Private(
        _HANDLER,
        "StreamMessagesHandler",
        "the base of our handler, and what a graph makes for the mode `messages`",
        _LANGGRAPH,
        "test_handler",
    ),
    Private(
        _HANDLER,
        "StreamMessagesHandler._emit",
        "each message passes here: ours writes its annotation; a remote node sends through it",
        _LANGGRAPH,
        "test_graph_node",
    ),
    Private(
        "langgraph.pregel",
        "_messages",
        "where a graph takes its handlers from, which `install` exchanges",
        _LANGGRAPH,
        "test_install",
    ),
    Private(
        _HANDLER,
        "StreamMessagesHandlerV2",
        "the same for models that stream in v3",
        _LANGGRAPH,
        "test_install",
    ),
    Private(
        _HANDLER,
        "graph_namespace",
        "where in the tree of graphs a callback was called",
        _LANGGRAPH,
        "test_hidden_messages",
    ),
    Private(
        _CONFIG,
        "ensure_config",
        "a graph's own configuration and the one of the run, merged as the run will do it",
        _LANGGRAPH,
        "test_once",
    ),
    Private(
        _CONFIG,
        "filter_to_user_tags",
        "the metadata of a chunk names no tags but the user's",
        _LANGGRAPH,
        "test_hidden_messages",
    ),
    Private(
        "langgraph.types",
        "Command._update_as_tuples",
        "what a node's `Command` writes, as its graph reads it",
        _LANGGRAPH,
        "test_handler",
    ),
    Private(
        "langgraph.stream",
        "StreamTransformer._on_register",
        "the one moment in which a transformer sees the log of its run",
        _LANGGRAPH,
        "test_transformer",
    ),
    Private(
        "langgraph.stream._mux",
        "StreamMux._events",
        "the log of a v3 run, after all transformers",
        _LANGGRAPH,
        "test_transformer",
    ),
    Private(
        "langchain_core.language_models._compat_bridge",
        "message_to_events",
        "the events that say a whole message, as upstream says one in `run.messages`",
        "langchain-core 1.8.3",
        "test_protocol",
    ),
    Private(
        "langgraph.stream.transformers",
        "MessagesTransformer._by_run",
        "the messages of `run.messages` that are open, of which one may go on as another",
        _LANGGRAPH,
        "test_run_messages",
    ),
    Private(
        "langgraph.stream._mux",
        "StreamMux._seq",
        "the numbers of that log, which go up",
        _LANGGRAPH,
        "test_transformer",
    ),
    Private(
        "langgraph.pregel",
        "Pregel._output_mapper",
        "it would make an object of each state that only we read",
        _LANGGRAPH,
        "test_session",
    ),
    Private(
        "langgraph.pregel",
        "Pregel._state_mapper",
        "it would make an object of the state of each checkpoint that only we read",
        _LANGGRAPH,
        "test_session",
    ),
    Private(
        "langgraph._internal._queue",
        "SyncQueue._queue",
        "what an ended run has sent and nobody has read",
        _LANGGRAPH,
        "test_drafts",
    ),
    *(
        Private(_CONSTANTS, name, why, _LANGGRAPH, test)
        for name, why, test in (
            ("CONFIG_KEY_TASK_ID", "by which task a graph inside runs", "test_once"),
            ("CONFIG_KEY_STREAM_MESSAGES_V2", "whether models stream in v3", "test_once"),
            ("SNAPSHOT_BUMPS", "what of `versions_seen` is no node", "test_real_checkpoints"),
            ("CONFIG_KEY_STREAM", "where a remote graph in a node writes to", "test_graph_call"),
            ("CONFIG_KEY_SCRATCHPAD", "what a node is resumed with", "test_graph_call"),
            ("CONFIG_KEY_RESUMING", "whether it is", "test_graph_call"),
            ("CONFIG_KEY_RESUME_MAP", "with what for which interrupt", "test_graph_call"),
            ("INTERRUPT", "under which key a state carries its interrupts", "test_intake"),
            ("OVERWRITE", "under which key JSON carries an `Overwrite`", "test_intake"),
            ("PUSH", "tasks of a `Send`", "test_once"),
            ("TASKS", "what is sent to nodes, as a checkpoint has it", "test_once"),
            ("NO_WRITES", "that a task ended and gave nothing", "test_truth"),
            ("PREVIOUS", "what a functional graph has saved", "test_session"),
        )
    ),
    # Graphs behind a URL
    Private(
        _REMOTE,
        "RemoteGraph._sanitize_config",
        "what of a configuration is sent: nothing of a graph around",
        _LANGGRAPH,
        "test_graph_call",
    ),
    *(
        Private(_REMOTE, f"RemoteGraph.{name}", why, _LANGGRAPH, "test_graph_call")
        for name, why in {
            "_validate_client": "the client that was given, or made of the URL",
            "_validate_sync_client": "the same, sync",
            "_get_checkpoint": "which checkpoint a configuration names, as a server is asked",
            "_get_config": "the configuration of a state, without ids that are null",
            "_create_state_snapshot": "a state as stock makes it, into which ours puts messages",
        }.items()
    ),
    Private(
        _REMOTE,
        "_merge_tracing_headers",
        "the headers that carry a trace to the server",
        _LANGGRAPH,
        "test_graph_call",
    ),
    *(
        Private(_REMOTE_V3, name, why, _LANGGRAPH, "test_graph_v3")
        for name, why in {
            "_RemoteGraphRunStream": "the base of our v3 run",
            "_RemoteGraphRunStream._sdk": "the events that it reads",
            "_RemoteGraphRunStream._run_id": "which of a thread's runs it is",
            "_AsyncRemoteGraphRunStream": "the same, async",
            "_AsyncRemoteGraphRunStream._sdk": "the same, async",
            "_AsyncRemoteGraphRunStream._run_id": "the same, async",
            "_ProjectionRegistry": "its channels by name, to which ours adds `once`",
        }.items()
    ),
    *(
        Private("langgraph_sdk.client", name, "a request's JSON as the SDK writes it", _SDK, test)
        for name, test in {
            "_encode_json": "test_runs_begin",
            "_aencode_json": "test_runs_begin",
        }.items()
    ),
    *(
        Private("langgraph_sdk.errors", name, "the SDK's errors for a status", _SDK, test)
        for name, test in {
            "_raise_for_status_typed": "test_runs_faults",
            "_araise_for_status_typed": "test_runs_faults",
        }.items()
    ),
    # Checkpoints
    Private(
        _JSONPLUS,
        "_msgpack_enc",
        "what writes codec `msgpack`",
        _CHECKPOINT,
        "test_writes",
    ),
    Private(
        _JSONPLUS,
        "_msgpack_default",
        "its hook, which ours asks about all but an `Opaque`",
        _CHECKPOINT,
        "test_writes",
    ),
    Private(
        _MSGPACK,
        "SAFE_MSGPACK_TYPES",
        "the types that stock revives without being asked",
        _CHECKPOINT,
        "test_policy",
    ),
    Private(
        _MSGPACK,
        "SAFE_MSGPACK_METHODS",
        "the methods that stock calls without being asked",
        _CHECKPOINT,
        "test_policy",
    ),
    Private(
        "langgraph.checkpoint.serde.types",
        "_DeltaSnapshot",
        "what a delta channel puts into a checkpoint",
        _CHECKPOINT,
        "test_golden_upstream",
    ),
    Private(
        "langgraph._internal._serde",
        "collect_allowlist_from_schemas",
        "the types that stock trusts because a graph's schemas name them",
        _LANGGRAPH,
        "test_types",
    ),
    *(
        Private(
            f"langgraph.store.{database}.aio",
            f"Async{name}Store._prepare_batch_PUT_queries",
            "what is embedded of a value, which is not what is stored of it",
            _CHECKPOINT,
            "test_store",
        )
        for database, name in (("sqlite", "Sqlite"), ("postgres", "Postgres"))
    ),
    # Values
    Private(
        "pydantic._internal._model_construction",
        "ModelMetaclass",
        "the hooks of pydantic itself are none of a model's own",
        "pydantic 2.12",
        "test_lookup",
    ),
    Private(
        "pydantic._internal._dataclasses",
        "complete_dataclass",
        "the same for dataclasses",
        "pydantic 2.12",
        "test_lookup",
    ),
    *(
        Private(
            "pydantic_core._pydantic_core",
            name,
            "where pydantic's addresses say they are",
            "pydantic 2.12",
            "test_policy",
        )
        for name in ("Url", "MultiHostUrl")
    ),
    *(
        Private(module, name, "where pandas' classes say they are", _PANDAS, "test_frames")
        for module, name in (
            ("pandas._libs.tslibs.timestamps", "Timestamp"),
            ("pandas._libs.tslibs.timedeltas", "Timedelta"),
            ("pandas._libs.tslibs.period", "Period"),
            ("pandas._libs.tslibs.nattype", "NaTType"),
            ("pandas._libs.missing", "NAType"),
            ("pandas._libs.interval", "Interval"),
        )
    ),
    Private(
        "langgraph_api._factory_utils",
        "_classify_factory",
        "which arguments the server calls a factory of graphs with",
        "langgraph-api 0.16.7",
        "test_check",
    ),
    Private(
        "langgraph_api._checkpointer._adapter",
        "_CustomCheckpointerAdapter._inner",
        "it hides that our saver reads the history of a delta channel at once",
        "langgraph-api 0.16.7",
        "test_delta_history",
    ),
    Private(
        "langgraph_api.graph",
        "GRAPH_STREAM_TRANSFORMERS",
        "where a wrapped graph gets the v3 transformers that its module exports",
        "langgraph-api 0.16.7",
        "test_transformers",
    ),
    Private(
        "langgraph_sdk.runtime",
        "_ReadRuntime",
        "what the server gives to a factory that asks for a runtime",
        _SDK,
        "test_check",
    ),
    *(
        Private(
            "langgraph.prebuilt",
            name,
            "whether a tool node may know tools that it does not name, for `rehearse`",
            "langgraph-prebuilt 1.1.3",
            "test_changes",
        )
        for name in ("ToolNode._wrap_tool_call", "ToolNode._awrap_tool_call")
    ),
    Private(
        "pandas._libs.sparse",
        "BlockIndex",
        "the places of a sparse array",
        _PANDAS,
        "test_frames",
    ),
    *(
        Private("pandas.arrays", name, why, _PANDAS, "test_frames")
        for name, why in {
            "SparseArray._simple_new": "made of its parts; the public ways are deprecated",
            "IntegerArray._data": "the values without a copy",
            "IntegerArray._mask": "which of them are missing",
        }.items()
    ),
    *(
        Private("numpy.ma", name, why, _NUMPY, "test_arrays")
        for name, why in {
            "MaskedArray._optinfo": "what a user has put there, which we do not write",
            "MaskedArray._fill_value": "None where it was not set; in public it is converted",
        }.items()
    ),
    *(
        Private("re", name, "whether a pattern may take too long", "Python 3.11", "test_limits")
        for name in ("_parser", "_constants")
    ),
)
