"""A builder of ANONYMIZE: each call adds a clause, and ``str()`` is the statement."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, SupportsFloat, Union

from . import _sql

if TYPE_CHECKING:
    from ._connection import Connection
    from ._values import Release, Rows

#: The syntax of a mask after a column name: words, quoted strings, and shares in parentheses.
MASK = re.compile(
    r"""[A-Za-z]+(\s+([A-Za-z_0-9]+|'([^']|'')*'|"([^"]|"")*"|\(\s*[0-9.]+\s*([Pp][Ee][Rr][Cc][Ee][Nn][Tt]\s*)?\)))*"""
)
LABELS = ("TEXT", "BOUNDS", "MIDPOINT", "MEAN", "MEDIAN", "MODE")
#: The extensions that make a string a path instead of the name of a table.
_ENDS = (".parquet", ".csv", ".tsv", ".json", ".ndjson", ".jsonl", ".avro", ".arrow", ".gz", ".zst", ".bz2", ".xz")


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table of the session, named in one to three parts."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(_sql.name(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class PathSource:
    """A file, folder, pattern or URL, with the options for reading it."""

    path: str
    options: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return _sql.text(self.path) + _options(self.options)


@dataclass(frozen=True, slots=True)
class QuerySource:
    """The rows of a query."""

    sql: str

    def __str__(self) -> str:
        if not isinstance(self.sql, str):
            raise TypeError(
                f'a query is a string, not {type(self.sql).__name__}; write anonsql.query("SELECT * FROM people")'
            )
        # The newline ends a comment of the query before the clauses that follow.
        end = "\n" if "--" in self.sql else ""
        return f"({self.sql.rstrip().removesuffix(';')}{end})"


Source = Union[str, "os.PathLike[str]", TableSource, PathSource, QuerySource]


def table(*parts: str) -> TableSource:
    """Return a table of the session as a source. Its name may contain any characters.

    >>> str(table("my/table"))
    '"my/table"'
    """
    return TableSource(parts)


def path(of: str | os.PathLike[str], **options: object) -> PathSource:
    """Return a file, folder, pattern or URL as a source. The options become its OPTIONS clause.

    >>> str(path("people.csv", delimiter=";"))
    "'people.csv' OPTIONS (delimiter ';')"
    """
    if not isinstance(of, (str, os.PathLike)):
        raise TypeError(f'a path is a text or a pathlib.Path, not {type(of).__name__}; write anonsql.path("people.csv")')
    return PathSource(os.fspath(of), options)


def query(sql: str) -> QuerySource:
    """Return the rows of a query as a source.

    >>> str(query("SELECT * FROM people WHERE age > 17"))
    '(SELECT * FROM people WHERE age > 17)'
    """
    return QuerySource(sql)


def source(of: Source) -> TableSource | PathSource | QuerySource:
    """Return a typed source: a string with a slash, a ``*`` or the extension of a data file is a path.

    >>> source("people"), source("people.csv")
    (TableSource(parts=('people',)), PathSource(path='people.csv', options={}))
    """
    if isinstance(of, (TableSource, PathSource, QuerySource)):
        return of
    if isinstance(of, str):
        looks_like_path = any(c in of for c in "/\\*") or of.lower().endswith(_ENDS)
        return PathSource(of) if looks_like_path else TableSource((of,))
    if isinstance(of, os.PathLike):
        return PathSource(os.fspath(of))
    raise TypeError(
        f"a source is the name of a table, a path, anonsql.query(...) or anonsql.table(...), not {type(of).__name__}; "
        'register a frame with con.register("people", frame), and write "people" here'
    )


@dataclass(frozen=True, slots=True)
class Model:
    """A privacy model with its arguments and the columns it applies to."""

    name: str
    arguments: tuple[object, ...] = ()
    named: Mapping[str, object] = field(default_factory=dict)
    on: str | None = None
    columns: tuple[str, ...] = ()
    any: int | None = None

    def __str__(self) -> str:
        arguments = [_sql.argument(argument) for argument in self.arguments]
        arguments += [f"{_sql.name(key)} => {_sql.argument(value)}" for key, value in self.named.items()]
        written = _sql.name(self.name)
        if arguments:
            written += f"({', '.join(arguments)})"
        if self.on is not None:
            written += f" ON {_sql.name(self.on)}"
        if self.columns:
            written += f" ON ({_sql.names(self.columns)})"
        if self.any is not None:
            written += f" ON ANY {_sql.number(self.any)}"
        return written


def model(
    name: str,
    *arguments: object,
    on: str | None = None,
    columns: Sequence[str] = (),
    any: int | None = None,
    **named: object,
) -> Model:
    """Return a privacy model with its arguments.

    ``on`` is its sensitive column. A model is about the groups of all quasi-identifiers. ``columns`` makes it about the
    groups of these columns, and ``any=2`` about the groups of every 2 quasi-identifiers.

    >>> str(model("l_diversity", 3, on="diagnosis"))
    '"l_diversity"(3) ON "diagnosis"'
    >>> str(model("k_anonymity", 3, any=2))
    '"k_anonymity"(3) ON ANY 2'
    """
    return Model(name, arguments, named, on, tuple(columns), any)


def models(given: Sequence[Model], short: Mapping[str, object]) -> tuple[Model, ...]:
    """Return all models that ``satisfying`` was given.

    In ``short``, a number is the argument of a model, and the string that ends a tuple is its sensitive column.
    """
    found = list(given)
    for one in given:
        if not isinstance(one, Model):
            raise TypeError(
                f"{type(one).__name__} is not a privacy model; write k_anonymity=5, or "
                'anonsql.model("l_diversity", 3, on="diagnosis")'
            )
    for key, value in short.items():
        if value is True:
            found.append(Model(key))
        elif isinstance(value, (tuple, list)) and value:
            *arguments, last = value
            found.append(Model(key, tuple(arguments), on=last) if isinstance(last, str) else Model(key, tuple(value)))
        else:
            found.append(Model(key, (value,)))
    return tuple(found)


def satisfying(of: Sequence[Model]) -> str:
    """Return the SATISFYING clause."""
    return "SATISFYING " + " AND ".join(str(one) for one in of)


def _options(options: Mapping[str, object]) -> str:
    if not options:
        return ""
    written = (f"{_key(key)} {_sql.value(value)}" for key, value in options.items())
    return f" OPTIONS ({', '.join(written)})"


def _key(of: str) -> str:
    return of if of.isascii() and of.isidentifier() and of.islower() else _sql.text(of)


def _with(options: Mapping[str, object]) -> str:
    return f"WITH ({', '.join(f'{_sql.name(key)} = {_sql.value(value)}' for key, value in options.items())})"


def algorithm(name: str, options: Mapping[str, object]) -> str:
    """Return the name of a search, with its options in parentheses."""
    if not options:
        return _sql.name(name)
    return f"{_sql.name(name)} ({', '.join(f'{_sql.name(k)} => {_sql.value(v)}' for k, v in options.items())})"


def quasi_clause(columns: Sequence[str]) -> str:
    """Return the QUASI IDENTIFIERS clause."""
    return f"QUASI IDENTIFIERS ({', '.join(columns)})"


def mask_clause(mask: str | None, secret: str | None) -> str:
    """Return a mask as it follows the name of a column; empty without a mask.

    The mask must match the syntax of masks, so that it cannot add another clause.

    >>> mask_clause("MASK 'XXX-####'", None)
    " MASK 'XXX-####'"
    """
    if mask is None:
        if secret is not None:
            raise TypeError("a secret needs a mask; write mask=\"NOISE (0.1)\", or another mask of SHOW MASKS")
        return ""
    if not isinstance(mask, str) or not MASK.fullmatch(mask):
        raise TypeError("a mask is a string in SQL syntax; write mask=\"NOISE (0.1)\", or another mask of SHOW MASKS")
    return f" {mask}" + ("" if secret is None else f" WITH SECRET {_sql.text(secret)}")


@dataclass(frozen=True, slots=True)
class Anonymize:
    """A request for a release. Every call returns a new request, so that one can be the start of several.

    >>> import anonsql
    >>> con = anonsql.connect(threads=1)
    >>> people = con.anonymize("people").identifiers("name").quasi("age").quasi("Zip", levels=(1, 3))
    >>> print(people.sensitive("diagnosis").satisfying(k_anonymity=5, l_diversity=(3, "diagnosis")).suppress("1%"))
    ANONYMIZE people IDENTIFIERS (name) QUASI IDENTIFIERS (age, "Zip" LEVELS 1 TO 3) SENSITIVE (diagnosis) \
SATISFYING k_anonymity(5) AND l_diversity(3) ON diagnosis SUPPRESSING AT MOST 1 PERCENT
    """

    _connection: Connection = field(repr=False)
    _source: TableSource | PathSource | QuerySource
    _target: str = ""
    _identifiers: tuple[str, ...] = ()
    _quasi: tuple[str, ...] = ()
    _sensitive: tuple[str, ...] = ()
    _keep: tuple[str, ...] = ()
    _entity: str | None = None
    _class: str | None = None
    _population: str | None = None
    _models: tuple[Model, ...] = ()
    _clauses: tuple[tuple[str, str], ...] = ()
    _options: Mapping[str, object] = field(default_factory=dict)
    _report: str = ""

    def identifiers(self, *columns: str, secret: str | None = None, mask: str | None = None) -> Anonymize:
        """Name the direct identifiers, which are left out, or released with a mask.

        ``mask`` is written as in SQL. ``secret`` is ``env:NAME`` or ``file:PATH``. The mask of a secret alone is HASH.
        """
        how = mask_clause("HASH" if mask is None and secret is not None else mask, secret)
        added = tuple(_sql.name(column) + how for column in columns)
        return replace(self, _identifiers=self._identifiers + added)

    def quasi(
        self,
        *columns: str,
        using: str | None = None,
        levels: tuple[int, int] | None = None,
        weight: float | None = None,
        labels: str | None = None,
    ) -> Anonymize:
        """Name quasi-identifiers, which are generalized as little as possible with the hierarchy ``using``."""
        how = "" if using is None else f" USING {_sql.name(using)}"
        if levels is not None:
            if not isinstance(levels, (tuple, list)) or len(levels) != 2:
                raise TypeError("levels has the lowest and the highest level; write levels=(0, 2)")
            how += f" LEVELS {_sql.number(levels[0])} TO {_sql.number(levels[1])}"
        if weight is not None:
            how += f" WEIGHT {_sql.number(weight)}"
        if labels is not None:
            how += f" LABELS {_sql.word(labels, LABELS)}"
        return replace(self, _quasi=self._quasi + tuple(_sql.name(column) + how for column in columns))

    def sensitive(
        self,
        *columns: str,
        using: str | None = None,
        randomized: bool = False,
        mask: str | None = None,
        secret: str | None = None,
    ) -> Anonymize:
        """Name the sensitive columns: a release must not reveal their values for a person.

        >>> import anonsql
        >>> con = anonsql.connect(threads=1)
        >>> people = con.anonymize("people").quasi("age").satisfying(k_anonymity=2)
        >>> print(people.sensitive("pay", mask="NOISE (0.1)", secret="env:S"))
        ANONYMIZE people QUASI IDENTIFIERS (age) SENSITIVE (pay NOISE (0.1) WITH SECRET 'env:S') SATISFYING k_anonymity(2)
        """
        how = "" if using is None else f" USING {_sql.name(using)}"
        how += " RANDOMIZED" if randomized else ""
        how += mask_clause(mask, secret)
        return replace(self, _sensitive=self._sensitive + tuple(_sql.name(column) + how for column in columns))

    def keep(self, *columns: str, mask: str | None = None, secret: str | None = None) -> Anonymize:
        """Release columns unchanged, or with a mask that is written as in SQL: ``mask="PRAM (0.8)"``."""
        how = mask_clause(mask, secret)
        return replace(self, _keep=self._keep + tuple(_sql.name(column) + how for column in columns))

    def class_label(self, column: str) -> Anonymize:
        """Name the column that a classifier will be trained to predict."""
        return replace(self, _class=_sql.name(column))

    def entity(self, column: str) -> Anonymize:
        """Name the column that identifies the person of each row."""
        return replace(self, _entity=_sql.name(column))

    def population(self, of: Source) -> Anonymize:
        """Name the table of the population that the source is a sample of."""
        return replace(self, _population=str(source(of)))

    def satisfying(self, *given: Model, **short: object) -> Anonymize:
        """Add privacy models: ``k_anonymity=5``, ``l_diversity=(3, "diagnosis")`` or ``anonsql.model(...)``.

        A fraction is exact: ``fractions.Fraction(1, 11)`` becomes ``1/11``.
        """
        return replace(self, _models=self._models + models(given, short))

    def following(self, *standards: str) -> Anonymize:
        """Require that the release follows published standards, such as ``"hipaa_safe_harbor"``; see SHOW STANDARDS."""
        if not standards:
            raise TypeError('following needs the name of a standard; write following("hipaa_safe_harbor")')
        return self._clause("FOLLOWING", f"FOLLOWING {_sql.names(standards)}")

    def suppress(self, at_most: str | SupportsFloat) -> Anonymize:
        """Limit the suppressed rows to ``"1%"``, a share below 1 such as ``0.01``, or a number of rows."""
        given = _sql.plain(at_most)
        if isinstance(given, bool) or not isinstance(given, (str, int, float)):
            raise TypeError(f'suppress takes "1%", 0.01 or a number of rows, not {type(at_most).__name__}')
        if isinstance(given, str):
            share = given.strip().removesuffix("%").strip()
            if not given.strip().endswith("%") or not share.replace(".", "", 1).isdecimal():
                raise ValueError('suppress takes "1%", 0.01 or a number of rows')
            limit = f"{_sql.number(float(share))} PERCENT"
        elif isinstance(given, float):
            if not 0 <= given < 1:
                raise ValueError('a share of the rows is at least 0 and below 1; write "1%" or a number of rows')
            limit = f"{_sql.number(round(given * 100, 12))} PERCENT"
        else:
            if given < 0:
                raise ValueError('a number of rows is at least 0; write suppress(0) or suppress("1%")')
            limit = f"{_sql.number(given)} ROWS"
        return self._clause("SUPPRESSING", f"SUPPRESSING AT MOST {limit}")

    def suppressed_rows(self, how: str) -> Anonymize:
        """Choose what happens to suppressed rows: ``dropped`` or ``starred``."""
        return self._clause("SUPPRESSED", f"SUPPRESSED ROWS {_sql.word(how, ('DROPPED', 'STARRED'))}")

    def minimizing(self, metric: str, *arguments: object) -> Anonymize:
        """Name the loss metric that the search minimizes."""
        given = f"({', '.join(_sql.value(a) for a in arguments)})" if arguments else ""
        return self._clause("MINIMIZING", f"MINIMIZING {_sql.name(metric)}{given}")

    def recoding(self, how: str) -> Anonymize:
        """Choose the recoding: ``global`` gives equal values equal labels in every row, ``local`` need not."""
        return self._clause("RECODING", f"RECODING {_sql.word(how, ('GLOBAL', 'LOCAL'))}")

    def search(self, name: str, **options: object) -> Anonymize:
        """Name the search algorithm, or the algorithm of local recoding."""
        return self._clause("SEARCH", f"SEARCH USING {algorithm(name, options)}")

    def at_node(self, **levels: int) -> Anonymize:
        """Set the level of each quasi-identifier, instead of a search."""
        written = ", ".join(f"{_sql.name(column)} {_sql.number(level)}" for column, level in levels.items())
        return self._clause("SEARCH", f"AT NODE ({written})")

    def using_manifest(self, of: str | os.PathLike[str], on_drift: str | None = None) -> Anonymize:
        """Release in the same way as an earlier release, given by its folder or manifest."""
        how = "" if on_drift is None else f" ON DRIFT {_sql.word(on_drift, ('ERROR', 'WARN', 'SEARCH'))}"
        return self._clause("SEARCH", f"USING MANIFEST {_sql.path(of, 'out/people/')}{how}")

    def using_policy(self, name: str) -> Anonymize:
        """Use the roles, the models and the limits of a policy (CREATE POLICY)."""
        return self._clause("POLICY", f"USING POLICY {_sql.name(name)}")

    def options(self, **options: object) -> Anonymize:
        """Set options of the WITH clause, such as ``seed``, ``time_limit`` and ``threads``."""
        return replace(self, _options={**self._options, **options})

    def accepting_warnings(self, *columns: str) -> Anonymize:
        """Accept the warnings about these columns."""
        return self._clause("ACCEPTING", f"ACCEPTING WARNINGS ON ({_sql.names(columns)})")

    def report(self, to: str | os.PathLike[str], overwrite: bool = False) -> Anonymize:
        """Write a report in HTML, Markdown or JSON, which the extension of the file chooses."""
        return replace(self, _report=f"REPORT TO {_sql.path(to, 'out/people.html')}" + (" OVERWRITE" if overwrite else ""))

    def to(
        self,
        target: str | os.PathLike[str],
        *,
        stored_as: str | None = None,
        partitioned_by: Sequence[str] = (),
        if_exists: str = "error",
        **options: object,
    ) -> Release:
        """Write the release to a target, and return its figures.

        ``if_exists`` is ``error``, ``overwrite``, ``append`` or ``skip``.
        """
        return self._connection._release(self._to(target, stored_as, partitioned_by, if_exists, options)._text())

    def rows(self) -> Rows:
        """Return the released rows. They are recounted before the first row is returned."""
        return self._connection.sql_rows(self._text())

    def explain(self, analyze: bool = False) -> Rows:
        """Show the roles, the lattice, the pruning and the queries of the request."""
        return self._connection.sql_rows(f"EXPLAIN {'ANALYZE ' if analyze else ''}{self._text()}")

    def compare(self, *searches: str, recodings: Sequence[str] = ()) -> Rows:
        """Compare the releases of several searches or recodings, one row for each."""
        written = self._request()
        if recodings:
            written += f" RECODING ({', '.join(_sql.word(r, ('GLOBAL', 'LOCAL')) for r in recodings)})"
        if searches:
            written += f" SEARCH USING ({', '.join(_sql.name(search) for search in searches)})"
        return self._connection.sql_rows(f"COMPARE {written}")

    def lattice(self) -> Rows:
        """List every node of the lattice with its k, suppressed rows, classes and metrics."""
        return self._connection.sql_rows(f"LATTICE OF {self._request()}")

    def explore(self, page: str | os.PathLike[str]) -> Rows:
        """Write one HTML page for choosing a node of the lattice. The returned row has the number of nodes."""
        return self._connection.sql_rows(f"EXPLORE {self._request()} TO {_sql.path(page, 'out/lattice.html')}")

    def pareto_front(self, *objectives: str, picture: str | os.PathLike[str] | None = None) -> Rows:
        """List the nodes that no other node beats in every objective.

        Objectives are strings such as ``"max k"``, ``"max l on diagnosis"`` and ``"min glm"``. ``picture`` is the path
        of an SVG file to write. With two or more objectives, a notebook shows the first two as a picture in any case.
        """
        written = f"PARETO FRONT OF {self._request()} OPTIMIZING {', '.join(map(_objective, objectives))}"
        if picture is not None:
            return self._connection._front(f"{written} REPORT TO {_sql.path(picture, 'out/front.svg')}", os.fspath(picture))
        if len(objectives) < 2:
            # The picture has two axes, so it needs two objectives.
            return self._connection.sql_rows(written)
        with tempfile.TemporaryDirectory() as folder:
            shown = os.path.join(folder, "front.svg")
            return self._connection._front(f"{written} REPORT TO {_sql.path(shown, shown)}", shown)

    def _clause(self, key: str, written: str) -> Anonymize:
        others = tuple(clause for clause in self._clauses if clause[0] != key)
        return replace(self, _clauses=(*others, (key, written)))

    def _to(
        self,
        target: str | os.PathLike[str],
        stored_as: str | None,
        partitioned_by: Sequence[str],
        if_exists: str,
        options: Mapping[str, object],
    ) -> Anonymize:
        clauses = {"error": "", "overwrite": " OVERWRITE", "append": " APPEND", "skip": " IF NOT EXISTS"}
        if if_exists not in clauses:
            raise ValueError("if_exists is one of: error, overwrite, append, skip")
        if target is None:
            raise TypeError('a target is a path, not None; write .to("out/people/"), or .rows() to get the rows')
        written = f"TO {_sql.path(target, 'out/people/')}"
        if stored_as is not None:
            written += f" STORED AS {_sql.word(stored_as, ('PARQUET', 'CSV', 'DELTA'))}"
        if partitioned_by:
            written += f" PARTITIONED BY ({_sql.names(partitioned_by)})"
        return replace(self, _target=written + clauses[if_exists] + _options(options))

    def _request(self) -> str:
        """Return the statement without its target and its report."""
        return replace(self, _target="", _report="")._text()

    def _text(self) -> str:
        order = ("FOLLOWING", "SUPPRESSING", "SUPPRESSED", "MINIMIZING", "RECODING", "SEARCH")
        clauses = dict(self._clauses)
        parts = [
            f"ANONYMIZE {self._source}",
            self._target,
            clauses.get("POLICY", ""),
            f"IDENTIFIERS ({', '.join(self._identifiers)})" if self._identifiers else "",
            quasi_clause(self._quasi) if self._quasi else "",
            f"SENSITIVE ({', '.join(self._sensitive)})" if self._sensitive else "",
            f"CLASS ({self._class})" if self._class is not None else "",
            f"KEEP ({', '.join(self._keep)})" if self._keep else "",
            f"ENTITY ({self._entity})" if self._entity is not None else "",
            f"POPULATION {self._population}" if self._population is not None else "",
            satisfying(self._models) if self._models else "",
            *(clauses.get(key, "") for key in order),
            _with(self._options) if self._options else "",
            clauses.get("ACCEPTING", ""),
            self._report,
        ]
        return " ".join(part for part in parts if part)

    def __str__(self) -> str:
        return self._connection._printed(self._text())


def _objective(of: str) -> str:
    words = of.split() if isinstance(of, str) else []
    if len(words) not in (2, 4) or words[0].upper() not in ("MAX", "MIN"):
        raise ValueError('this is not an objective; write "max k", "min glm" or "max l on diagnosis"')
    written = f"{words[0].upper()} {_sql.name(words[1])}"
    if len(words) == 4:
        if words[2].lower() != "on":
            raise ValueError('this is not an objective; write "max k", "min glm" or "max l on diagnosis"')
        written += f" ON {_sql.name(words[3])}"
    return written


def clauses(**given: Any) -> str:
    """Return the clauses that RISK OF, VERIFY and UTILITY OF share, in the order of the grammar."""
    written = []
    if given.get("quasi"):
        written.append(quasi_clause([_sql.names(given["quasi"])]))
    if given.get("sensitive"):
        written.append(f"SENSITIVE ({_sql.names(given['sensitive'])})")
    if given.get("entity") is not None:
        written.append(f"ENTITY ({_sql.name(given['entity'])})")
    if given.get("population") is not None:
        written.append(f"POPULATION {source(given['population'])}")
    return " ".join(written)
