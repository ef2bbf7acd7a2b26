# SPDX-License-Identifier: GPL-2.0-or-later
"""Parquet tables of dataclasses: one row per object, one column per field of the same name.

A column's type follows from the field's: int is int64 (an address uint64), str is a string, bool a
bool, and a tuple of int a list. Only a field that may be None has nulls. A column of strings is
binary if one of them is the name of a file and not UTF-8.
"""

import types
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, BinaryIO, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

T = TypeVar("T")

COMPRESSION: dict[str, Any] = {"compression": "zstd", "compression_level": 3}
TYPES = {
    int: pa.int64(),
    str: pa.string(),
    bool: pa.bool_(),
    tuple[int, ...]: pa.list_(pa.field("element", pa.int64(), nullable=False)),
}
UNSIGNED = {"address"}  # fields with numbers up to 2**64 - 1


@cache
def schema_of(kind: type) -> pa.Schema:
    """Return the schema of a dataclass's table."""
    hints = typing.get_type_hints(kind)
    return pa.schema([_column_of(one.name, hints[one.name]) for one in fields(kind)])


def _column_of(name: str, hint: Any) -> pa.Field:
    nullable = isinstance(hint, types.UnionType)
    (kind,) = set(typing.get_args(hint)) - {types.NoneType} if nullable else {hint}
    unsigned = kind is int and name in UNSIGNED
    return pa.field(name, pa.uint64() if unsigned else TYPES[kind], nullable)


def write(file: BinaryIO, kind: type, objects: Sequence[Any]) -> None:
    """Write a table of objects of that class."""
    columns = {
        one: _written([getattr(each, one.name) for each in objects], one) for one in schema_of(kind)
    }
    schema = pa.schema([one.with_type(column.type) for one, column in columns.items()])
    table = pa.Table.from_arrays(list(columns.values()), schema=schema)
    pq.write_table(table, file, **COMPRESSION, store_schema=False)


def _written(values: list[Any], column: pa.Field) -> pa.Array:
    try:
        return pa.array(values, column.type)
    except UnicodeEncodeError:
        return pa.array([text.encode("utf-8", "surrogateescape") for text in values], pa.binary())


def read(content: memoryview, kind: Callable[..., T]) -> tuple[T, ...]:
    """Make the objects that write() stored; raise ValueError if the table has other columns."""
    table = open_table(content).read(use_threads=False)
    _require(table.schema, schema_of(kind))
    return tuple(kind(*values) for values in zip(*map(_values, table.columns), strict=True))


def open_table(content: memoryview) -> pq.ParquetFile:
    """Open a table. Read it with use_threads=False.

    If the process exits while Arrow still starts its threads, it may end by SIGABRT
    (apache/arrow issue 34314).
    """
    return pq.ParquetFile(pa.BufferReader(pa.py_buffer(content)))


def _require(found: pa.Schema, expected: pa.Schema) -> None:
    """Raise ValueError unless the columns have these names and types."""
    texts = [one.with_type(pa.string()) if one.type == pa.binary() else one for one in found]
    if not pa.schema(texts).equals(expected):
        names = ", ".join(f"{one.name} {one.type}" for one in expected)
        raise ValueError(f"a table's columns are not {names}")


def _values(column: pa.ChunkedArray) -> Iterator[Any]:
    if column.type in (pa.string(), pa.binary()):
        return _texts(column)
    values: Iterator[Any] = iter(column.to_pylist())
    return map(tuple, values) if pa.types.is_list(column.type) else values


def _texts(column: pa.ChunkedArray) -> Iterator[str]:
    """Yield the texts; equal texts are one object, because a long profile has millions."""
    encoded = column.cast(pa.binary()).combine_chunks().dictionary_encode()
    known = [text.decode("utf-8", "surrogateescape") for text in encoded.dictionary.to_pylist()]
    return (known[number] for number in encoded.indices.to_pylist())
