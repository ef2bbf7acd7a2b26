# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes dataclasses of JSON, and JSON of dataclasses: the reader and writer of artefacts' parts.

    @dataclass(frozen=True)
    class Boundary:
        before: Annotated[int | None, Key("from")]
        after: Annotated[int, Key("to")]

    codec.decode(list[Boundary], document["boundaries"], "boundaries")
    codec.encode(boundaries)

A field has the JSON key of its own name, unless Key names another. A FLAT field takes its keys from
the object around it, and a DERIVED one has no key. A key that is missing is an error:
another set of keys is another version of the artefact. Null stands for the default of a NULLABLE
field. Nothing is converted: an integer is no text, and true is no integer; only a float may be
written as an integer. A class that requires more says so in __post_init__() by
a ValueError. Keys that no field names are left alone.
"""

import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from kadence.base.errors import ArtefactError

T = TypeVar("T")


@dataclass(frozen=True)
class Key:
    """Annotates a field: its JSON key, whether null is its default, whether it has a key at all."""

    name: str = ""
    nullable: bool = False
    flat: bool = False
    derived: bool = False


NULLABLE = Key(nullable=True)
FLAT = Key(flat=True)
DERIVED = Key(derived=True)
SIMPLE = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


class DecodeError(ArtefactError):
    """The JSON is not what the class describes; the message names the place."""


def decode(kind: type[T], value: object, where: str = "") -> T:
    """Make a `kind` of the value; raises DecodeError. `where` is the value's place in the file."""
    made: T = _decode(kind, value, where)
    return made


def _decode(kind: Any, value: object, where: str) -> Any:
    if kind is Any:
        return value
    if kind in SIMPLE:
        return _simple(kind, value, where)
    if is_dataclass(kind):
        return _object(kind, value, where)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _optional(arguments, value, where)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _pair(arguments, value, where)
    if origin in (tuple, list, frozenset):
        return origin(_items(arguments[0], value, where))
    if origin is dict:
        return _named(arguments[1], value, where)
    raise TypeError(f"{kind} is no type for an artefact")


def _simple(kind: Any, value: object, where: str) -> Any:
    fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return _as_float(value, where)
    if not fits or (isinstance(value, float) and not math.isfinite(value)):
        raise DecodeError(f"{where} is not {SIMPLE[kind]}")
    return value


def _as_float(value: int, where: str) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise DecodeError(f"{where} is too large a number") from error


def _optional(arguments: tuple[Any, ...], value: object, where: str) -> Any:
    (kind,) = (each for each in arguments if each is not types.NoneType)
    return None if value is None else _decode(kind, value, where)


def _pair(arguments: tuple[Any, ...], value: object, where: str) -> Any:
    if not isinstance(value, list) or len(value) != len(arguments):
        raise DecodeError(f"{where} is not a list of {len(arguments)}")
    pairs = zip(arguments, value, strict=True)
    return tuple(_decode(kind, one, f"{where}[{n}]") for n, (kind, one) in enumerate(pairs))


def _items(kind: Any, value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise DecodeError(f"{where} is not a list")
    # Lists of intervals are long.
    if kind in (int, str) and all(type(one) is kind for one in value):
        return value
    return [_decode(kind, one, f"{where}[{number}]") for number, one in enumerate(value)]


def _named(kind: Any, value: object, where: str) -> dict[str, Any]:
    return {name: _decode(kind, one, _place(where, name)) for name, one in _mapping(value, where)}


def _mapping(value: object, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise DecodeError(f"{where or 'the document'} is not an object")
    return value.items()


def _object(kind: Any, value: object, where: str) -> Any:
    entry = dict(_mapping(value, where))
    values = {}
    for one in _fields(kind):
        if one.key.flat:
            values[one.name] = _decode(one.hint, entry, where)
        elif one.key.name not in entry:
            raise DecodeError(f"{_place(where, one.key.name)} is missing")
        elif entry[one.key.name] is not None or not one.key.nullable:
            place = _place(where, one.key.name)
            values[one.name] = _decode(one.hint, entry[one.key.name], place)
    try:
        return kind(**values)
    except ValueError as error:
        raise DecodeError(f"{where}: {error}" if where else str(error)) from error


def encode(value: Any) -> Any:
    """The JSON of what decode() makes. Sets are sorted."""
    if is_dataclass(value):
        return _encoded_object(value)
    if isinstance(value, dict):
        return {name: encode(one) for name, one in value.items()}
    if isinstance(value, frozenset):
        return [encode(one) for one in sorted(value)]
    if isinstance(value, tuple | list):
        return [encode(one) for one in value]
    return value


def _encoded_object(value: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    kind: Any = type(value)
    for one in _fields(kind):
        encoded = encode(getattr(value, one.name))
        entry.update(encoded if one.key.flat else {one.key.name: encoded})
    return entry


def _place(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


@dataclass(frozen=True)
class _Field:
    name: str
    hint: Any
    key: Key


@cache
def _fields(kind: Any) -> list[_Field]:
    """The fields that JSON has."""
    found = []
    hints = typing.get_type_hints(kind, include_extras=True)
    for one in fields(kind):
        hint, key = hints[one.name], Key(one.name)
        if typing.get_origin(hint) is typing.Annotated:
            hint, key = hint.__origin__, hint.__metadata__[0]
        if not key.derived:
            found.append(_Field(one.name, hint, replace(key, name=key.name or one.name)))
    return found
