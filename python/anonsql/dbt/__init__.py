"""A plug-in of dbt-duckdb: a model that is a release, and a source that is one.

The folder of this module is a package of dbt, too: its macros are the materialization ``release`` and the tests
``anonsql.k_anonymity`` and ``anonsql.l_diversity``. The page ``docs/src/dbt.md`` of the book says how both are used.
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
    """Return the class that a plug-in of dbt-duckdb is; without dbt, the module still says where the macros are."""
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
    """What a profile names as ``module: anonsql``.

    Its ``config`` may have ``memory_limit`` and ``threads``, as ``anonsql.connect`` takes them, and ``init``: the path
    of a script that runs first, such as one that creates hierarchies.
    """

    def initialize(self, plugin_config: Mapping[str, Any]) -> None:
        """Keep the configuration. A session starts with the first release."""
        self._limits = {key: plugin_config[key] for key in ("memory_limit", "threads") if key in plugin_config}
        init = plugin_config.get("init")
        self._init = "" if init is None else Path(init).read_text(encoding="utf-8")
        # Each thread of dbt has a connection of its own, whose temporary tables no other sees.
        self._here = threading.local()

    def configure_cursor(self, cursor: Any) -> None:
        """Remember the connection of this thread."""
        self._here.cursor = cursor

    def store(self, target_config: Any) -> None:
        """Release the rows of a relation to the location of a model."""
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
            raise ValueError("anonymize is the clauses of one statement, from IDENTIFIERS on")
        rows = self._here.cursor.sql(f"SELECT * FROM {target_config.relation}")
        con.register("model", rows)
        con.sql(statement)

    def load(self, source_config: Any) -> Any:
        """Return the rows of a release, after everything was checked that its manifest promises."""
        where = source_config.get("release")
        if where is None:
            raise ValueError(f"the source {source_config.identifier} has no path; write meta: {{release: out/people_k5}}")
        con = self._session()
        con.verify(Path(where)).raise_for_failure()
        return con.sql(f"SELECT * FROM {_sql.path(f'{where}/', 'out/people_k5')}").to_arrow()

    def default_materialization(self) -> str:
        """A source is copied: a file that changes later changes nothing."""
        return "table"

    def _session(self) -> Connection:
        # One for each: two models may have the same name for their rows at the same time.
        con = connect(**self._limits)
        if self._init:
            con.sql(self._init)
        return con
