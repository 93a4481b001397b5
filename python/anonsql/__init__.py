"""An anonymizer that speaks SQL.

>>> import anonsql
>>> con = anonsql.connect(threads=1)
>>> len(con.sql("CREATE TABLE people AS VALUES (31, 'flu'), (33, 'cold'), (36, 'flu'), (38, 'flu')"))
0
>>> con.hierarchy("age", intervals=[5, 10])
>>> rows = con.anonymize("people").quasi("column1", using="age").sensitive("column2").satisfying(k_anonymity=2).rows()
>>> rows.release.k, rows.release.classes
(2, 2)
"""

from __future__ import annotations

from typing import Any

from ._builder import Anonymize, Model, PathSource, QuerySource, TableSource, model, path, query, table
from ._connection import Connection, Registered, connect
from ._datafusion import add_functions, attach
from ._errors import (
    AnonsqlWarning,
    DataError,
    Drift,
    Error,
    Exhausted,
    FileError,
    Infeasible,
    InternalError,
    InvalidStatement,
    TargetExists,
    Unavailable,
    VerificationFailed,
)
from ._progress import Progress
from ._values import Check, Drifted, EquivalenceClass, Lifted, NearestMiss, Release, Rows, Verification, Warned

__all__ = [
    "AnonsqlWarning",
    "Anonymize",
    "Check",
    "Connection",
    "DataError",
    "Drift",
    "Drifted",
    "EquivalenceClass",
    "Error",
    "Exhausted",
    "FileError",
    "Infeasible",
    "InternalError",
    "InvalidStatement",
    "Lifted",
    "Model",
    "NearestMiss",
    "PathSource",
    "Progress",
    "QuerySource",
    "Registered",
    "Release",
    "Rows",
    "TableSource",
    "TargetExists",
    "Unavailable",
    "Verification",
    "VerificationFailed",
    "Warned",
    "add_functions",
    "attach",
    "connect",
    "model",
    "path",
    "query",
    "table",
]


def __getattr__(name: str) -> Any:
    if name == "Plugin":
        # dbt-duckdb looks for ``Plugin`` in the module that a profile names: ``module: anonsql``.
        from .dbt import Plugin

        return Plugin
    raise AttributeError(f"module 'anonsql' has no attribute {name!r}")
