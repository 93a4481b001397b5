"""A plug-in of dbt-duckdb, with which models and sources can be releases.

The folder of this module is also a dbt package: its macros are the materialization ``release`` and the tests
``anonsql.k_anonymity`` and ``anonsql.l_diversity``. The page ``docs/src/dbt.md`` of the book describes both.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import _sql
from .._connection import Connection, connect

__all__ = ["Plugin", "package"]


def _base() -> Any:
    """Return the base class of dbt-duckdb plug-ins, or ``object`` without dbt, so that ``package`` still works."""
    try:
        return import_module("dbt.adapters.duckdb.plugins").BasePlugin
    except ImportError:
        return object


_Base: Any = _base()


def package() -> str:
    """Return the folder of the macros, which ``packages.yml`` names.

    >>> import os
    >>> sorted(os.listdir(os.path.join(package(), "macros")))
    ['release.sql', 'tests.sql']
    """
    return str(Path(__file__).parent)


class Plugin(_Base):  # type: ignore[misc]
    """The plug-in that a profile names as ``module: anonsql``.

    Its ``config`` may have ``memory_limit`` and ``threads``, as ``anonsql.connect`` takes them, and ``init``, the path
    of a script that runs first, for example to create hierarchies.
    """

    def initialize(self, plugin_config: Mapping[str, Any]) -> None:
        """Keep the configuration. Each release starts a session with it."""
        self._limits = {key: plugin_config[key] for key in ("memory_limit", "threads") if key in plugin_config}
        init = plugin_config.get("init")
        self._init = "" if init is None else Path(init).read_text(encoding="utf-8")
        # Each thread of dbt has its own connection, and other connections do not see its temporary tables.
        self._here = threading.local()

    def configure_cursor(self, cursor: Any) -> None:
        """Remember the connection of this thread."""
        self._here.cursor = cursor

    def store(self, target_config: Any) -> None:
        """Write a release of the rows of a relation to the location of a model."""
        config, location = target_config.config, target_config.location.path
        clauses = config.get("anonymize")
        if not isinstance(clauses, str) or not clauses.strip():
            raise ValueError(
                f"{target_config.relation.identifier} has no request; write config(materialized='release', "
                "anonymize='QUASI IDENTIFIERS (age, sex) SATISFYING k_anonymity(5)')"
            )
        con = self._session()
        statement = f"ANONYMIZE model TO {_sql.path(location, 'out/people_k5')} OVERWRITE {clauses}"
        if len(con._session.printed(statement)) != 1:
            raise ValueError("anonymize has more than one statement; write the clauses of one, from IDENTIFIERS on")
        rows = self._here.cursor.sql(f"SELECT * FROM {target_config.relation}")
        con.register("model", rows)
        con.sql(statement)

    def load(self, source_config: Any) -> Any:
        """Return the rows of a release, after a check of everything that its manifest promises."""
        where = source_config.get("release")
        if where is None:
            raise ValueError(f"the source {source_config.identifier} has no path; write meta: {{release: out/people_k5}}")
        con = self._session()
        con.verify(Path(where)).raise_for_failure()
        return con.sql(f"SELECT * FROM {_sql.path(f'{where}/', 'out/people_k5')}").to_arrow()

    def default_materialization(self) -> str:
        """Return ``table``: dbt copies a source, so a later change of its files has no effect."""
        return "table"

    def _session(self) -> Connection:
        # Each release has its own session, because two models may register the name ``model`` at the same time.
        con = connect(**self._limits)
        if self._init:
            con.sql(self._init)
        return con
