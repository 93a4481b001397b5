"""Exchange with datafusion-python: its tables in a session, and functions of anonsql in its queries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from . import _sql, _tables
from ._connection import Connection, connect
from ._errors import DataError, InvalidStatement


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
    towards ``memory_limit``. ``tables`` restricts this to the tables that it names. Statements of anonsql run in the
    session, not in the context. The other arguments are those of ``connect``.
    """
    if isinstance(tables, str):
        raise TypeError(f'tables is a list of names, not a string; write tables=["{tables}"]')
    found = _context(context)
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


def add_functions(context: object, con: Connection) -> None:
    """Add the SQL functions of anonsql to a ``SessionContext`` of datafusion-python.

    Queries of the context can then call the scalar functions, such as ``generalize`` and the masks, with the
    hierarchies of ``con``. The table functions ``risk``, ``k_anonymity``, ``hierarchy_levels`` and ``pareto_front``, and
    ``anonymize('ANONYMIZE ...')`` run in ``con``, and read its tables and files: ``attach(context)`` returns a connection
    that has the tables of the context. A table function runs once, when the context plans the query. Statements
    themselves run only in ``con``.
    """
    found = _context(context)
    if not isinstance(con, Connection):
        raise TypeError(
            f"{type(con).__name__} is not a connection of anonsql; write "
            "anonsql.add_functions(context, anonsql.attach(context))"
        )
    from datafusion import udf, udtf

    for function in con._session.functions():
        found.register_udf(udf(function))
    for name in con._session.table_functions():
        found.register_udtf(udtf(_table_function(con, name), name))
    found.register_udtf(udtf(_anonymize(con), "anonymize"))


def _context(context: object) -> Any:
    """Return the context, or fail if it is not a SessionContext."""
    if not _tables.is_of(context, "datafusion", "SessionContext"):
        raise TypeError(f"{type(context).__name__} is not a SessionContext of datafusion-python")
    return context


def _table_function(con: Connection, name: str) -> Callable[..., Any]:
    """Return a function of datafusion-python that calls a table function of a connection."""

    def call(*arguments: Any) -> Any:
        written = ", ".join(_sql.value(_literal(name, argument)) for argument in arguments)
        return _rows(con, f"SELECT * FROM {name}({written})")

    return call


def _anonymize(con: Connection) -> Callable[..., Any]:
    """Return the table function ``anonymize``, which returns the rows of an ANONYMIZE statement."""

    def call(*arguments: Any) -> Any:
        values = [_literal("anonymize", argument) for argument in arguments]
        if len(values) != 1 or not isinstance(values[0], str):
            raise InvalidStatement("anonymize takes one statement in single quotes: anonymize('ANONYMIZE people ...')")
        statement = values[0].strip().rstrip(";")
        printed = con._session.printed(statement)
        if len(printed) != 1 or not printed[0].startswith("ANONYMIZE "):
            raise InvalidStatement("anonymize takes one ANONYMIZE statement; run all others with con.sql('...')")
        # A statement with TO has no rows. Inside a SELECT, it is refused before it runs.
        return _rows(con, f"SELECT * FROM ({statement}\n) AS released")

    return call


def _literal(name: str, argument: Any) -> Any:
    """Return the value of an argument, or fail if it is not a literal."""
    try:
        value = argument.python_value()
        return value.as_py() if hasattr(value, "as_py") else value
    except Exception:  # noqa: BLE001
        # datafusion-python raises a bare Exception for an expression that is not a literal.
        raise InvalidStatement(f"the arguments of {name} are literals, such as {name}('people')") from None


def _rows(con: Connection, text: str) -> Any:
    """Return the rows of a query as a table that datafusion-python can scan."""
    import pyarrow.dataset

    return pyarrow.dataset.dataset(con.sql_rows(text).to_arrow())
