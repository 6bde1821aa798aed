"""What is built in, and in which order it is asked."""

from __future__ import annotations

from typing import Final

from langgraph_once.serde.codecs.once1.types.base.protocol import Adapter, Family
from langgraph_once.serde.codecs.once1.types.data.arrow import ArrowFamily
from langgraph_once.serde.codecs.once1.types.data.numpy_arrays import NumpyFamily
from langgraph_once.serde.codecs.once1.types.data.pandas_frames import PandasFamily
from langgraph_once.serde.codecs.once1.types.data.polars import PolarsFamily
from langgraph_once.serde.codecs.once1.types.models import langgraph_types, pydantic_v1
from langgraph_once.serde.codecs.once1.types.models.pydantic_models import ModelFamily
from langgraph_once.serde.codecs.once1.types.models.pydantic_v1 import V1ModelFamily
from langgraph_once.serde.codecs.once1.types.models.python_objects import ObjectFamily, RecordFamily
from langgraph_once.serde.codecs.once1.types.python import (
    containers,
    exceptions,
    generics,
    identifiers,
    partials,
    scalars,
    times,
)
from langgraph_once.serde.codecs.once1.types.python.builtin_subclasses import (
    NamedTupleFamily,
    ValueFamily,
)
from langgraph_once.serde.codecs.once1.types.python.containers import (
    ChainMapFamily,
    ContainerFamily,
)
from langgraph_once.serde.codecs.once1.types.python.enums import EnumFamily
from langgraph_once.serde.codecs.once1.types.python.exceptions import (
    ExceptionFamily,
    ExceptionGroupFamily,
)
from langgraph_once.serde.codecs.once1.types.python.identifiers import UrlFamily

__all__ = ["BUILTIN_ADAPTERS", "BUILTIN_FAMILIES", "CODE_FREE_FAMILIES", "OWN_FAMILIES"]

BUILTIN_ADAPTERS: Final[tuple[Adapter, ...]] = (
    *scalars.ADAPTERS,
    *times.ADAPTERS,
    *identifiers.ADAPTERS,
    *containers.ADAPTERS,
    *generics.ADAPTERS,
    *exceptions.ADAPTERS,
    *pydantic_v1.ADAPTERS,
    *langgraph_types.ADAPTERS,
    *partials.ADAPTERS,
)
"""For concrete types."""

BUILTIN_FAMILIES: Final[tuple[Family, ...]] = (
    ModelFamily(),
    EnumFamily(),  # before the subclasses of `int` and `str` that some enums are
    NumpyFamily(),  # `numpy.float64` is a subclass of `float`
    PandasFamily(),  # `pandas.Timestamp` is a subclass of `datetime`
    ArrowFamily(),
    PolarsFamily(),
    ExceptionFamily(),
    ExceptionGroupFamily(),
    NamedTupleFamily(),
    ValueFamily(),
    ContainerFamily(),
    ChainMapFamily(),
    V1ModelFamily(),
    UrlFamily(),
    RecordFamily(),  # whatever else is declared as a dataclass or with attrs
    ObjectFamily(),  # whatever else there is
)
"""For kinds of classes; the first that recognises a class has it."""

CODE_FREE_FAMILIES: Final[dict[str, Family]] = {
    family.name: family
    for family in (
        *(ModelFamily(code_free=True), RecordFamily(code_free=True), EnumFamily(code_free=True)),
        *(ValueFamily(code_free=True), ContainerFamily(code_free=True)),
        *(ExceptionFamily(code_free=True), ExceptionGroupFamily(code_free=True)),
        *(NamedTupleFamily(), V1ModelFamily()),
    )
}
"""Those that rebuild objects without running any code of their classes, by name.

Where one of the others would, to make the default of a field, say, it refuses.
"""

OWN_FAMILIES: Final = frozenset({*CODE_FREE_FAMILIES, ObjectFamily.name, ChainMapFamily.name})
"""The names of those that may run what code is left, of classes in the project's own source."""
