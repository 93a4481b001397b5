"""A session, which runs SQL, registers tables and starts requests."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from . import _sql, _tables
from ._anonsql import Session
from ._builder import Anonymize, Model, PathSource, Source, clauses, models, satisfying, source
from ._errors import AnonsqlWarning
from ._progress import Line, Progress
from ._values import EquivalenceClass, Given, Release, Rows, Verification


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered table.

    ``held`` is ``shared`` if the rows stay where they are and are not copied. It is ``read`` if they were read once,
    into memory that counts towards ``memory_limit``.
    """

    name: str
    rows: int
    columns: tuple[str, ...]
    held: str


def connect(
    *,
    memory_limit: str | int | None = None,
    threads: int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
) -> Connection:
    """Start a session.

    ``memory_limit`` (``"2GB"``, or a number of bytes) limits the memory of statements, in addition to the memory that
    the process already has. Intermediate data that exceeds it is spilled to ``temp_dir``. Statements run on
    ``threads`` threads; the default is one per core.

    >>> con = connect(memory_limit="512MB", threads=2)
    >>> len(con.sql("SELECT 1 AS one"))
    1
    """
    of_memory, of_threads = _sql.plain(memory_limit), _sql.plain(threads)
    if isinstance(of_memory, bool) or not isinstance(of_memory, (str, int, float, type(None))):
        raise TypeError(f'memory_limit is "2GB" or a number of bytes, not {type(memory_limit).__name__}')
    if isinstance(of_threads, bool) or not isinstance(of_threads, (int, type(None))):
        raise TypeError(f"threads is a whole number, not {type(threads).__name__}; write threads=2")
    if of_threads is not None and of_threads < 1:
        raise ValueError("threads is at least 1; leave it out for one per core")
    if temp_dir is not None and not isinstance(temp_dir, (str, os.PathLike)):
        raise TypeError(f'temp_dir is the path of a folder, not {type(temp_dir).__name__}; write temp_dir="/tmp"')
    if isinstance(of_memory, float) and not math.isfinite(of_memory):
        raise ValueError('memory_limit is a finite number of bytes; write memory_limit="2GB", or leave it out')
    # The number of bytes is whole, but the caller may write it as a float, such as 2e9.
    written = str(int(of_memory) if isinstance(of_memory, float) else of_memory)
    return Connection(Session(of_threads, None if of_memory is None else written, temp_dir))


class Connection:
    """A session. ``anonsql.connect()`` starts one."""

    __slots__ = ("_progress", "_session")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._progress: bool | Callable[[Progress], object] = False

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @property
    def progress(self) -> bool | Callable[[Progress], object]:
        """How progress is shown: True for a line on a terminal or in a notebook, a function, or False for neither.

        The function is called with a ``Progress`` every 100 ms, on the thread that runs the statement. An exception
        that it raises ends the statement.

        >>> con = connect(threads=1)
        >>> con.progress = lambda progress: print(progress.phase, progress.done, progress.expected)
        >>> con.progress = False
        """
        return self._progress

    @progress.setter
    def progress(self, told: bool | Callable[[Progress], object]) -> None:
        if not isinstance(told, bool) and not callable(told):
            raise TypeError(f"progress is True, False or a function, not {type(told).__name__}; write con.progress = True")
        self._progress = told

    def sql(self, text: str) -> Any:
        """Run a script, and return the result of its last statement.

        The result is a Release for ANONYMIZE ... TO, a Verification for VERIFY, and Rows for any other statement.

        >>> con = connect(threads=1)
        >>> print(con.sql("SELECT 'north' AS region"))
        +--------+
        | region |
        +--------+
        | north  |
        +--------+
        """
        return self._run(text)

    def sql_rows(self, text: str) -> Rows:
        """Run a script, and return the rows of its last statement."""
        result = self._run(text)
        if isinstance(result, Rows):
            return result
        raise TypeError(f"the last statement returns a {type(result).__name__}, not rows; write con.sql(...)")

    def register(self, name: str, table: object) -> Registered:
        """Name a table for SQL: one of pandas, Polars, pyarrow or DuckDB, or any object with Arrow's C interface.

        A table in memory is not copied. Anything else is read once, into memory.

        >>> con = connect(threads=1)
        >>> one = con.register("copy", con.sql("SELECT 31 AS age"))
        >>> one.rows, one.columns, one.held
        (1, ('age',), 'shared')
        """
        if not isinstance(name, str):
            raise TypeError('the name of a table comes first; write con.register("people", frame)')
        _sql.name(name)
        with _interrupts() as interrupts:
            try:
                offered, shared = _tables.offered(table)
                rows, columns = self._session.register(name, offered, shared)
            except Exception:
                if interrupts:
                    # The package that produces the rows has reported the interrupt as its own failure.
                    raise KeyboardInterrupt from None
                raise
        if interrupts:
            # The interrupt may have ended the rows early.
            self._session.unregister(name)
            raise KeyboardInterrupt
        return Registered(name, rows, tuple(columns), "shared" if shared else "read")

    def unregister(self, name: str) -> bool:
        """Remove a table from the session. Return whether it existed."""
        return self._session.unregister(name)

    def set(self, **settings: object) -> None:
        """Set settings of the session: ``con.set(strict=True)`` is ``SET anonsql.strict = true``."""
        for key, value in settings.items():
            if not key.isidentifier():
                raise ValueError("a setting has a name such as strict; write con.set(strict=True)")
            self._run(f"SET anonsql.{key} = {_sql.value(value)}")

    def register_model(
        self,
        name: str,
        holds: Callable[..., object],
        *,
        sql: str,
        at_least: str | None = None,
        at_most: str | None = None,
        parameters: Sequence[str] = (),
        attribute: bool = False,
        monotone: str = "never",
    ) -> None:
        """Add a privacy model of your own: a function that checks a class, and the same condition in SQL.

        ``holds`` is called with an ``EquivalenceClass`` and the values of the ``parameters``, which are numbers of at
        least 0. It returns whether the class may be released. ``sql`` recounts the released rows. It returns one
        number, which is at least the parameter that ``at_least`` names, or at most the parameter of ``at_most``.

        The SQL can contain ``{rows}`` (the released rows), ``{group_by}`` (``GROUP BY`` with the quasi-identifiers) and
        ``{size}`` (the size of a class). If the model reads a sensitive ``attribute``, it can also contain
        ``{attribute}``, and start with ``{values}``. This defines the table ``audit_values`` with the number ``n`` of
        each value in each class, and the size ``s`` of the class.

        ``monotone`` states when the model holds for a merged class: ``"always"`` if it holds for one of the parts, and
        ``"without suppression"`` if it holds for all of them. ``"never"`` is always correct, and slower. The function
        is called for each class, so the model is much slower than a built-in model.

        >>> con = connect(threads=1)
        >>> con.register_model(
        ...     "max_share",
        ...     lambda one, share: max(one.counts) <= share * one.size,
        ...     sql="{values} SELECT max(n / s) FROM audit_values",
        ...     at_most="share",
        ...     parameters=["share"],
        ...     attribute=True,
        ... )
        >>> len(con.sql("CREATE TABLE stays AS VALUES (31, 'flu'), (33, 'cold'), (36, 'flu'), (38, 'cold')"))
        0
        >>> con.hierarchy("years", intervals=[5, 10])
        >>> request = con.anonymize("stays").quasi("column1", using="years").sensitive("column2")
        >>> request.satisfying(max_share=(0.5, "column2")).rows().release.classes
        2
        """
        for value in (name, sql, *parameters):
            if not isinstance(value, str):
                raise TypeError(f"names and SQL are strings, not {type(value).__name__}; write them in quotes")
        if not callable(holds):
            raise TypeError("holds is a function of an EquivalenceClass; write lambda one: one.size >= 5")
        for value in (name, *parameters):
            if not (value.isascii() and value.isidentifier() and value.islower()):
                raise ValueError(f"{value!r} is not a name in lower case; write a name such as max_share")
        if len({*parameters}) < len(parameters):
            raise ValueError("a parameter is named twice; give each parameter a different name")
        if (at_least is None) == (at_most is None):
            raise TypeError('the SQL is compared with one parameter; write at_least="k" or at_most="share"')
        bound = at_most if at_least is None else at_least
        if bound not in parameters:
            raise ValueError(f"{bound!r} is not among the parameters; write parameters=[{bound!r}]")
        if monotone not in ("always", "without suppression", "never"):
            raise ValueError('monotone is "always", "without suppression" or "never"')
        for word in ("{attribute}", "{values}"):
            if word in sql and not attribute:
                raise ValueError(f"{word} needs a sensitive attribute; write attribute=True")
        for word in ("{rows}", "{values}"):
            if word in sql:
                break
        else:
            raise ValueError("the SQL does not read the released rows; write SELECT ... FROM {rows}, or {values} SELECT ...")

        def called(size: int, counts: list[int], values: list[float]) -> object:
            return holds(EquivalenceClass(size, tuple(counts)), *values)

        summary = " ".join((holds.__doc__ or "").split()) or "a model that this program defines"
        self._session.register_model(
            Given(name, summary, list(parameters), called, sql, str(bound), at_least is None, attribute, monotone)
        )

    def hierarchies(self) -> list[str]:
        """Return the names of all hierarchies."""
        return self._session.hierarchies()

    def hierarchy(
        self,
        name: str,
        *,
        intervals: Sequence[float] | None = None,
        prefix: Sequence[int] | None = None,
        truncate: Sequence[str] | None = None,
        values: Sequence[Sequence[object]] | None = None,
        suppression: bool = False,
        file: str | os.PathLike[str] | None = None,
        query: str | None = None,
        origin: float | None = None,
        bottom_code: object | None = None,
        top_code: object | None = None,
        mask: str | None = None,
        width: int | None = None,
        on_unmapped: str | None = None,
        nulls: str | None = None,
        replace: bool = False,
    ) -> None:
        """Create a hierarchy: the levels to which values of a column can be generalized.

        >>> con = connect(threads=1)
        >>> con.hierarchy("age", intervals=[5, 10, 20], top_code=90)
        >>> con.hierarchy("sex", values=[("female", "any"), ("male", "any")])
        >>> con.hierarchies()
        ['age', 'sex']
        """
        kinds: list[str] = []
        if intervals is not None:
            kinds.append(f"AS INTERVALS ({_sql.numbers(intervals, 'intervals=[5, 10, 20]')})")
        if prefix is not None:
            kinds.append(f"AS PREFIX ({_sql.numbers(prefix, 'prefix=[4, 3, 2]')})")
        if truncate is not None:
            kinds.append(f"AS TRUNCATE ({_sql.names(truncate)})")
        if values is not None:
            kinds.append(f"AS VALUES {', '.join(map(_labels, values))}")
        if suppression:
            kinds.append("AS SUPPRESSION")
        if file is not None:
            kinds.append(f"FROM {_sql.path(file, 'hierarchies/age.csv')}")
        if query is not None:
            kinds.append(f"AS {query}")
        if len(kinds) != 1:
            raise TypeError(
                "a hierarchy takes one of: intervals, prefix, truncate, values, suppression, file, query; for "
                "other kinds, write con.sql('CREATE HIERARCHY ...')"
            )
        written = f"CREATE {'OR REPLACE ' if replace else ''}HIERARCHY {_sql.name(name)} {kinds[0]}"
        for word, value in (
            ("ORIGIN", origin),
            ("MASK", mask),
            ("WIDTH", width),
            ("BOTTOM CODE", bottom_code),
            ("TOP CODE", top_code),
        ):
            if value is not None:
                written += f" {word} {_sql.value(value)}"
        if on_unmapped is not None:
            written += f" ON UNMAPPED {_sql.word(on_unmapped, ('ERROR', 'SUPPRESS', 'TOP'))}"
        if nulls is not None:
            how = {"value": "AS VALUE", "top": "AS TOP", "error": "ERROR"}
            if nulls not in how:
                raise ValueError("nulls is one of: value, top, error")
            written += f" NULLS {how[nulls]}"
        self._run(written)

    def anonymize(self, of: Source) -> Anonymize:
        """Start a request for a release of a table, a path or ``anonsql.query(...)``."""
        return Anonymize(self, source(of))

    def verify(
        self,
        of: Source | Release,
        *given: Model,
        quasi: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        entity: str | None = None,
        against: Source | None = None,
        population: Source | None = None,
        **short: object,
    ) -> Verification:
        """Check that privacy models hold on a table or a release.

        Without models, check everything that the manifest of a release promises.
        """
        what = models(given, short)
        if isinstance(of, Release):
            of = PathSource(os.fspath(of))
        if what and not quasi:
            raise TypeError('models need quasi-identifiers; write quasi=["age", "sex"]')
        if not what and not quasi:
            of = source(of)
            if not isinstance(of, PathSource):
                raise TypeError(
                    'a table has no manifest to check; write quasi=["age", "sex"] and k_anonymity=5, or the path of a release'
                )
            written = self._session.promised(of.path)
            if against is not None:
                written += f" AGAINST {source(against)}"
        else:
            shared = clauses(quasi=quasi, sensitive=sensitive, entity=entity)
            written = f"VERIFY {source(of)} {shared} {satisfying(what) if what else ''}"
            if against is not None:
                written += f" AGAINST {source(against)}"
            if population is not None:
                written += f" POPULATION {source(population)}"
        result = self._run(written)
        assert isinstance(result, Verification)
        return result

    def risk(
        self,
        of: Source,
        *,
        quasi: Sequence[str],
        sensitive: Sequence[str] = (),
        entity: str | None = None,
        population: Source | None = None,
        weight: str | None = None,
        per_row: bool = False,
        keep: Sequence[str] = (),
        **options: object,
    ) -> Rows:
        """Measure the re-identification risk of the people in a table, raw or released."""
        shared = clauses(quasi=quasi, sensitive=sensitive, entity=entity, population=population)
        written = f"RISK OF {source(of)} {shared}"
        if weight is not None:
            written += f" WEIGHT ({_sql.name(weight)})"
        if keep:
            written += f" KEEP ({_sql.names(keep)})"
        if per_row:
            written += " PER ROW"
        if options:
            written += f" WITH ({', '.join(f'{_sql.name(k)} = {_sql.value(v)}' for k, v in options.items())})"
        return self.sql_rows(written)

    def utility(
        self,
        of: Source | Release,
        against: Source,
        *,
        quasi: Sequence[str] = (),
        class_label: str | None = None,
        report: str | os.PathLike[str] | None = None,
    ) -> Rows:
        """Measure how well a release describes its source."""
        of = PathSource(os.fspath(of)) if isinstance(of, Release) else of
        written = f"UTILITY OF {source(of)} AGAINST {source(against)} {clauses(quasi=quasi)}"
        if class_label is not None:
            written += f" CLASS ({_sql.name(class_label)})"
        if report is not None:
            written += f" REPORT TO {_sql.path(report, 'out/utility.html')}"
        return self.sql_rows(written)

    def suggest(self, of: Source, *, to: str | os.PathLike[str] | None = None) -> Rows:
        """Propose a role for every column, and a script that releases the table."""
        target = "" if to is None else f" TO {_sql.path(to, 'out/release.sql')}"
        return self.sql_rows(f"SUGGEST ROLES FOR {source(of)}{target}")

    def explain(self, request: Anonymize, analyze: bool = False) -> Rows:
        """Show how a request would run."""
        return request.explain(analyze)

    def compare(self, request: Anonymize, *searches: str, recodings: Sequence[str] = ()) -> Rows:
        """Compare the releases of several searches or recodings, one row for each."""
        return request.compare(*searches, recodings=recodings)

    def _release(self, text: str) -> Release:
        result = self._run(text)
        assert isinstance(result, Release)
        return result

    def _front(self, text: str, picture: str) -> Rows:
        rows = self.sql_rows(text)
        if os.path.exists(picture):
            with open(picture, "rb") as file:
                rows._picture = file.read()
        return rows

    def _printed(self, text: str) -> str:
        return "; ".join(self._session.printed(text))

    def _run(self, text: str) -> Rows | Release | Verification:
        if not isinstance(text, str):
            written = "request.rows() or request.to(...)" if isinstance(text, Anonymize) else 'con.sql("SELECT ...")'
            raise TypeError(f"a statement is a string, not {type(text).__name__}; write {written}")
        notes: list[str] = []
        try:
            with _told(self._progress) as told:
                kind, rows, values = self._session.run(text, notes, told)
        finally:
            # Statements before the one that failed may have made releases with warnings.
            for note in notes:
                warnings.warn(note, AnonsqlWarning, stacklevel=_caller())
        return _result(kind, rows, values)


@contextmanager
def _told(
    progress: bool | Callable[[Progress], object],
) -> Iterator[Callable[[str, int, int | None, float | None], object] | None]:
    """Yield the function that a session calls with the progress of a statement; clear the line afterwards."""
    if progress is False:
        yield None
        return
    line = Line() if progress is True else None
    told = progress if line is None else line
    assert callable(told)
    try:
        yield lambda *values: told(Progress(*values))
    finally:
        if line is not None:
            line.end()


@contextmanager
def _interrupts() -> Iterator[list[KeyboardInterrupt]]:
    """Record each KeyboardInterrupt of Ctrl-C in the block, because code that calls Python may lose it."""
    noted: list[KeyboardInterrupt] = []
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield noted
        return

    def note(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except KeyboardInterrupt as interrupt:
            noted.append(interrupt)
            raise

    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _labels(row: Sequence[object]) -> str:
    """Return a value with its labels, from the lowest level up."""
    if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
        raise TypeError('values is a list of tuples of a value and its labels; write values=[("flu", "lungs", "any"), ...]')
    return f"({', '.join(map(_sql.value, row))})"


def _caller() -> int:
    """Return the ``stacklevel`` at which a warning points to the first line outside of anonsql."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "anonsql":
        level, frame = level + 1, frame.f_back
    return level


def _result(kind: str, rows: Any, values: Mapping[str, Any]) -> Rows | Release | Verification:
    if kind == "verified":
        return Verification._of(values)
    if kind == "release":
        release = Release._of(values)
        return release if rows is None else Rows(rows, release)
    return Rows(rows)
