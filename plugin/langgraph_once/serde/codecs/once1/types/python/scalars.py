"""Numbers, ranges and singletons of the standard library.

complex, range, slice      their three or two parts
Fraction                   numerator and denominator
Decimal                    its text, which keeps sign, exponent and the payload of a NaN
..., NotImplemented        nothing: the name says it all
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from types import EllipsisType, NotImplementedType
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.attributes import slots_of
from langgraph_once.serde.codecs.once1.types.base.protocol import Adapter, parts, plain

__all__ = ["ADAPTERS"]

_MAX_REDUCED_BITS: Final = 1 << 16
"""Finding a common divisor of larger numbers takes quadratic time: those are taken as stored."""


def _decode_complex(data: Any) -> complex:
    return complex(*parts(data, float, float))


def _decode_range(data: Any) -> range:
    return range(*parts(data, int, int, int))


def _decode_slice(data: Any) -> slice:
    return slice(*parts(data, object, object, object))


def _decode_fraction(data: Any) -> Fraction:
    numerator, denominator = parts(data, int, int)
    if denominator <= 0:
        raise ValueError("a denominator must be positive")
    small = min(numerator.bit_length(), denominator.bit_length()) <= _MAX_REDUCED_BITS
    if small and math.gcd(numerator, denominator) != 1:
        raise ValueError("a fraction that is not in lowest terms")
    made = object.__new__(Fraction)
    slots_of(Fraction)["_numerator"].__set__(made, numerator)
    slots_of(Fraction)["_denominator"].__set__(made, denominator)
    return made


def _decode_decimal(data: Any) -> Decimal:
    try:
        made = Decimal(plain(data, str))
    except decimal.InvalidOperation as error:
        raise ValueError("not a decimal number") from error
    # A context without traps makes NaN of what is not a number.
    if str(made) != data:
        raise ValueError("not a decimal number")
    return made


def _decode_ellipsis(data: Any) -> EllipsisType:
    plain(data, type(None))
    return ...


def _decode_not_implemented(data: Any) -> NotImplementedType:
    plain(data, type(None))
    return NotImplemented  # type: ignore[no-any-return]  # typeshed knows no more of it


ADAPTERS: Final = (
    Adapter(
        name="complex",
        types=(complex,),
        encode=lambda value: (value.real, value.imag),
        decode=_decode_complex,
    ),
    Adapter(
        name="range",
        types=(range,),
        encode=lambda value: (int(value.start), int(value.stop), int(value.step)),
        decode=_decode_range,
    ),
    Adapter(
        name="slice",
        types=(slice,),
        encode=lambda value: (value.start, value.stop, value.step),
        decode=_decode_slice,
    ),
    Adapter(
        name="fraction",
        types=(Fraction,),
        encode=lambda value: (value.numerator, value.denominator),
        decode=_decode_fraction,
    ),
    Adapter(name="decimal", types=(Decimal,), encode=str, decode=_decode_decimal),
    Adapter(
        name="ellipsis",
        types=(EllipsisType,),
        encode=lambda _: None,
        decode=_decode_ellipsis,
    ),
    Adapter(
        name="notimplemented",
        types=(NotImplementedType,),
        encode=lambda _: None,
        decode=_decode_not_implemented,
    ),
)
