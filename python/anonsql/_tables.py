"""Checks and conversions of the tables of other packages, before their rows are read.

No error contains a value of a row. If another package cannot convert a column, its message is left out, because it
may quote values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from ._errors import DataError

#: Tables in memory, whose rows the session reads in place, without a copy.
_IN_MEMORY = (("pyarrow", "Table"), ("pyarrow", "RecordBatch"), ("polars", "DataFrame"), ("anonsql", "Rows"))


def is_of(of: object, package: str, *classes: str) -> bool:
    """Return whether an object is of one of these classes, without importing their package."""
    kinds = type(of).__mro__
    return any(kind.__module__.split(".")[0] == package and kind.__name__ in classes for kind in kinds)


#: The fewest rows that the chunks of a Polars frame must have on average to become separate parts.
_CHUNK = 1 << 13


def offered(of: object) -> tuple[Sequence[object], bool]:
    """Return a table as objects with Arrow's C interface, and whether its rows stay in memory elsewhere."""
    if isinstance(of, (str, bytes)):
        raise TypeError("a path is not a table; write SELECT * FROM 'people.parquet', which reads the file")
    if is_of(of, "pandas", "Series") or is_of(of, "polars", "Series") or is_of(of, "pyarrow", "Array", "ChunkedArray"):
        raise TypeError('this is a column, not a table; write frame[["column"]] or series.to_frame()')
    if is_of(of, "pandas", "DataFrame"):
        return [_of_pandas(of)], True
    if is_of(of, "polars", "LazyFrame"):
        of = of.collect()  # type: ignore[attr-defined]
    if is_of(of, "polars", "DataFrame"):
        return _chunks(_of_polars(of)), True
    if isinstance(of, (list, tuple, dict)) or is_of(of, "numpy", "ndarray"):
        raise TypeError(
            f"{type(of).__name__} is not a table; write pyarrow.Table.from_pylist(rows), pyarrow.table(columns) or pandas.DataFrame(...)"
        )
    if isinstance(of, type):
        raise TypeError(f"{of.__name__} is a class, not a table; write {of.__name__}(...)")
    if not hasattr(of, "__arrow_c_stream__") and not hasattr(of, "__arrow_c_array__"):
        raise TypeError(
            f"{type(of).__name__} is not a table of pandas, Polars, pyarrow or DuckDB, and has neither "
            "__arrow_c_stream__ nor __arrow_c_array__; write pandas.DataFrame(...)"
        )
    return [of], any(is_of(of, package, kind) for package, kind in _IN_MEMORY)


def _chunks(frame: Any) -> Sequence[object]:
    """Return a Polars frame in parts in which every column is one chunk.

    Polars would copy the chunks of a frame into one chunk to export the whole frame.
    """
    ends = {end for column in frame.iter_columns() for end in accumulate(column.chunk_lengths())} - {0}
    if len(ends) <= 1 or len(ends) * _CHUNK > frame.height:
        return [frame]
    return [frame.slice(start, end - start) for start, end in pairwise(sorted({0, *ends}))]


def _of_polars(frame: Any) -> Any:
    """Return a Polars frame whose columns all have an Arrow type."""
    import polars

    def typed(of: Any) -> Any:
        # Other packages cannot read how Polars exports columns without a type, so they become strings that are NULL.
        if of == polars.Null:
            return polars.String()
        if isinstance(of, polars.Array):
            return polars.Array(typed(of.inner), of.shape[0])
        if isinstance(of, polars.List):
            return polars.List(typed(of.inner))
        if isinstance(of, polars.Struct):
            return polars.Struct([polars.Field(field.name, typed(field.dtype)) for field in of.fields])
        return of

    types = {}
    for name, of in frame.schema.items():
        if of == polars.Object:
            # Polars would export the memory addresses of the objects.
            raise DataError(
                f"column {name!r} has the Polars type Object, which Arrow cannot represent; write "
                f"frame = frame.with_columns(polars.Series({name!r}, [str(value) for value in frame[{name!r}]]))"
            )
        if typed(of) != of:
            types[name] = typed(of)
    return frame.cast(types) if types else frame


def _of_pandas(frame: Any) -> object:
    """Return a pandas frame as an Arrow table."""
    import pandas
    import pyarrow

    if isinstance(frame.columns, pandas.MultiIndex):
        raise DataError(
            'the columns of the frame are a MultiIndex; write frame.columns = ["_".join(map(str, c)) for c in frame.columns]'
        )
    if isinstance(frame.index, pandas.MultiIndex):
        raise DataError(
            "the index of the frame is a MultiIndex; write frame.reset_index() to have it as columns, or "
            "frame.reset_index(drop=True) to leave it out"
        )
    if frame.index.name is not None:
        raise DataError(
            f"the index of the frame is called {str(frame.index.name)!r}, but a table has only columns; write "
            "frame.reset_index() to have it as a column, or frame.reset_index(drop=True) to leave it out"
        )
    named(frame.columns)
    columns = [_column(name, frame[name]) for name in frame.columns]
    return pyarrow.table(columns, names=list(frame.columns))


def named(names: Iterable[object]) -> None:
    """Fail unless all names are strings and no two are equal."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise DataError("the names of the columns are not all strings; write frame.columns = frame.columns.map(str)")
        if name in seen:
            raise DataError(f"the table has two columns called {name!r}; give one of them another name")
        seen.add(name)


def _column(name: str, values: Any) -> Any:
    """Return a column as an Arrow array, or fail with an error that quotes none of its values."""
    import pandas
    import pyarrow

    if isinstance(values.dtype, pandas.SparseDtype):
        raise DataError(
            f"column {name!r} is sparse, which Arrow cannot represent; write "
            f"frame[{name!r}] = frame[{name!r}].sparse.to_dense()"
        )
    is_categorical = isinstance(values.dtype, pandas.CategoricalDtype)
    if is_categorical:
        # Categories that no row has must not leave the process.
        values = values.cat.remove_unused_categories()
    is_object = values.dtype == object
    # The meaning of pandas periods and intervals is in their type, not in their numbers.
    inside = values.cat.categories.dtype if is_categorical else values.dtype
    if isinstance(inside, (pandas.PeriodDtype, pandas.IntervalDtype)):
        raise DataError(
            f"column {name!r} has the type {str(inside)!r}, which Arrow cannot represent; write "
            f"frame[{name!r}] = frame[{name!r}].astype(\"string\")"
        )
    kind = pandas.api.types.infer_dtype(values, skipna=True) if is_object else ""
    converted = None
    if kind not in ("mixed-integer", "mixed-integer-float"):
        try:
            converted = pyarrow.Array.from_pandas(values)
        except Exception:  # noqa: BLE001
            # The message of the exception may quote a value.
            converted = None
    if kind == "mixed" and converted is not None and not pyarrow.types.is_nested(converted.type):
        converted = None
    if converted is not None and isinstance(converted.type, pyarrow.BaseExtensionType):
        converted, is_object = None, False
    if kind == "datetime" and len({getattr(value, "tzinfo", None) is None for value in values.dropna()}) == 2:
        raise DataError(
            f"column {name!r} holds times with and without a time zone; write "
            f"frame[{name!r}] = pandas.to_datetime(frame[{name!r}], utc=True)"
        )
    if converted is not None:
        return converted
    if kind == "string":
        raise DataError(
            f"column {name!r} holds strings that are not UTF-8; write "
            f'frame[{name!r}] = frame[{name!r}].str.encode("utf-8", "replace").str.decode("utf-8")'
        )
    if kind == "integer":
        raise DataError(
            f"column {name!r} holds numbers of more than 64 bits; write frame[{name!r}] = frame[{name!r}].astype(\"string\")"
        )
    if is_object:
        raise DataError(
            f"column {name!r} holds values of several types, or of a type that Arrow cannot represent; write frame[{name!r}] = frame[{name!r}].astype(\"string\"), or "
            "pandas.to_numeric or pandas.to_datetime"
        )
    raise DataError(
        f"column {name!r} has the type {str(values.dtype)!r}, which Arrow cannot represent; write "
        f"frame[{name!r}] = frame[{name!r}].astype(\"string\")"
    )
