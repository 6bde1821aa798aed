"""The classes that bytes may name without any configuration.

Upstream's list, and what belongs to Python, LangChain, LangGraph, numpy, pandas, pyarrow and
polars and does nothing but hold values. Loading one imports its module and sets its attributes;
no constructor of it runs that could do anything else.
"""

from __future__ import annotations

import builtins
from typing import Final

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES

from langgraph_once.serde.codecs.once1.types.data.arrow import CLASSES as ARROW_CLASSES
from langgraph_once.serde.codecs.once1.types.data.numpy_arrays import DTYPES

__all__ = ["SAFE_CLASSES"]

_EXCEPTIONS: Final = [
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException) and value.__name__ == name
]

_NUMPY: Final = [
    *("ndarray", "bool", "bool_", "str_", "bytes_", "void", "datetime64", "timedelta64"),
    *(f"{sign}{size}" for sign in ("int", "uint") for size in (8, 16, 32, 64)),
    *("intc", "uintc", "longlong", "ulonglong", "float16", "float32", "float64", "longdouble"),
    *("complex64", "complex128", "clongdouble", "float128", "complex256"),
    *("matrix", "recarray", "record"),
]

_PANDAS: Final = {
    "pandas": [
        *("DataFrame", "Series", "Timestamp", "Timedelta", "Period", "Interval", "Categorical"),
        *("Index", "RangeIndex", "MultiIndex", "DatetimeIndex", "TimedeltaIndex", "PeriodIndex"),
        *("CategoricalIndex", "IntervalIndex"),
    ],
    "pandas.api.typing": ["NaTType", "NAType"],
    "pandas.arrays": [
        *("IntegerArray", "FloatingArray", "BooleanArray", "StringArray", "DatetimeArray"),
        *("TimedeltaArray", "PeriodArray", "IntervalArray", "SparseArray", "ArrowStringArray"),
        "ArrowExtensionArray",
    ],
    # Where pandas 2 says that its classes are.
    "pandas.core.frame": ["DataFrame"],
    "pandas.core.series": ["Series"],
    "pandas._libs.tslibs.timestamps": ["Timestamp"],
    "pandas._libs.tslibs.timedeltas": ["Timedelta"],
    "pandas._libs.tslibs.period": ["Period"],
    "pandas._libs.tslibs.nattype": ["NaTType"],
    "pandas._libs.missing": ["NAType"],
    "pandas._libs.interval": ["Interval"],
    "pandas.core.indexes.base": ["Index"],
    "pandas.core.indexes.range": ["RangeIndex"],
    "pandas.core.indexes.multi": ["MultiIndex"],
    "pandas.core.indexes.datetimes": ["DatetimeIndex"],
    "pandas.core.indexes.timedeltas": ["TimedeltaIndex"],
    "pandas.core.indexes.period": ["PeriodIndex"],
    "pandas.core.indexes.category": ["CategoricalIndex"],
    "pandas.core.indexes.interval": ["IntervalIndex"],
    "pandas.core.arrays.categorical": ["Categorical"],
    "pandas.core.arrays.integer": ["IntegerArray"],
    "pandas.core.arrays.floating": ["FloatingArray"],
    "pandas.core.arrays.boolean": ["BooleanArray"],
    "pandas.core.arrays.string_": ["StringArray"],
    "pandas.core.arrays.datetimes": ["DatetimeArray"],
    "pandas.core.arrays.timedeltas": ["TimedeltaArray"],
    "pandas.core.arrays.period": ["PeriodArray"],
    "pandas.core.arrays.interval": ["IntervalArray"],
    "pandas.core.arrays.sparse.array": ["SparseArray"],
    "pandas.core.arrays.string_arrow": ["ArrowStringArray"],
    "pandas.core.arrays.arrow.array": ["ArrowExtensionArray"],
}

_OTHERS: Final = {
    "builtins": [
        *("NoneType", "bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset"),
        *("int", "list", "object", "set", "str", "tuple"),
        *_EXCEPTIONS,
    ],
    "collections": [
        *("ChainMap", "Counter", "OrderedDict", "UserDict", "UserList", "UserString"),
        *("defaultdict", "deque"),
    ],
    "numpy": _NUMPY,
    "numpy.char": ["chararray"],
    "numpy.dtypes": [*DTYPES],
    "numpy.ma": ["MaskedArray"],
    "numpy.ma.core": ["MaskedArray", "MaskedConstant"],
    "numpy.rec": ["recarray"],
    "asyncio.exceptions": ["CancelledError", "InvalidStateError", "TimeoutError"],
    "json.decoder": ["JSONDecodeError"],
    "langchain_core.agents": ["AgentAction", "AgentActionMessageLog", "AgentFinish", "AgentStep"],
    "langchain_core.exceptions": ["LangChainException", "OutputParserException"],
    "langchain_core.documents.base": ["Blob"],
    "langchain_core.messages.base": ["TextAccessor"],
    "langchain_core.messages.tool": ["InvalidToolCall", "ToolCall", "ToolCallChunk"],
    "langchain_core.outputs.chat_generation": ["ChatGeneration", "ChatGenerationChunk"],
    "langchain_core.outputs.chat_result": ["ChatResult"],
    "langchain_core.outputs.generation": ["Generation", "GenerationChunk"],
    "langchain_core.outputs.llm_result": ["LLMResult"],
    "langchain_core.outputs.run_info": ["RunInfo"],
    "langchain_core.prompt_values": [
        *("ChatPromptValue", "ChatPromptValueConcrete", "ImagePromptValue", "StringPromptValue"),
    ],
    "langgraph.checkpoint.base": ["EmptyChannelError"],
    "langgraph.checkpoint.serde.types": ["_DeltaSnapshot"],
    "langgraph.errors": [
        *("EmptyInputError", "ErrorCode", "GraphBubbleUp", "GraphDrained", "GraphInterrupt"),
        *("GraphRecursionError", "InvalidUpdateError", "NodeCancelledError", "NodeError"),
        *("NodeInterrupt", "NodeTimeoutError", "ParentCommand", "TaskNotFound"),
        "UnknownInterruptError",
    ],
    "langgraph.store.base": ["SearchItem"],
    "langgraph.types": ["CacheKey", "CachePolicy", "GraphOutput", "RetryPolicy", "StateUpdate"],
    "polars.dataframe.frame": ["DataFrame"],
    "polars.series.series": ["Series"],
    "pyarrow.lib": [*ARROW_CLASSES],
    "pydantic.networks": [
        *("AnyHttpUrl", "AnyUrl", "AnyWebsocketUrl", "FileUrl", "FtpUrl", "HttpUrl"),
        "WebsocketUrl",
    ],
    "pydantic.types": ["SecretBytes", "SecretStr"],
    "pydantic.v1.types": ["SecretBytes", "SecretStr"],
    "re": ["RegexFlag"],
    "string": ["Template"],
    "types": ["SimpleNamespace"],
    "http": ["HTTPMethod", "HTTPStatus"],
    "uuid": ["SafeUUID"],
}

SAFE_CLASSES: Final[frozenset[tuple[str, str]]] = frozenset(
    (m, n)
    for m, n in SAFE_MSGPACK_TYPES
    if (m, n) != ("re", "compile")  # a function; patterns have an adapter
) | {
    (module, name)
    for names in (_PANDAS, _OTHERS)
    for module, found in names.items()
    for name in found
}
"""As `(module, qualified name)`."""
