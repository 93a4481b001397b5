"""Tables of a session of datafusion-python."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import _tables
from ._connection import Connection, connect
from ._errors import DataError


def attach(
    context: object,
    *,
    tables: Iterable[str] | None = None,
    memory_limit: str | int | None = None,
    threads: int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
) -> Connection:
    """Start a session that has the tables of a ``SessionContext`` of datafusion-python under their names.

    Every table, view and registered file of the context's schema ``public`` is read once, into memory that counts
    towards ``memory_limit``, or only those that ``tables`` names. Statements of anonsql run in the session, not in
    the context. The other arguments are those of ``connect``.
    """
    if isinstance(tables, str):
        raise TypeError(f'tables are several names; write tables=["{tables}"]')
    if not _tables.is_of(context, "datafusion", "SessionContext"):
        raise TypeError(f"{type(context).__name__} is no SessionContext of datafusion-python")
    found: Any = context
    try:
        names = found.catalog().schema("public").names()
    except KeyError:
        raise DataError(
            "the context has no schema datafusion.public; write con.register(name, context.table(name)) for each table"
        ) from None
    read = sorted(names) if tables is None else list(tables)
    for name in read:
        if name not in names:
            raise DataError(f"the context has no table {name!r}; it has {', '.join(sorted(names)) or 'none'}")
    con = connect(memory_limit=memory_limit, threads=threads, temp_dir=temp_dir)
    for name in read:
        quoted = name.replace('"', '""')
        con.register(name, found.table(f'"{quoted}"'))
    return con
