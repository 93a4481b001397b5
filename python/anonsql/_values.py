"""The results of statements, as frozen values."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _html

if TYPE_CHECKING:
    from ._anonsql import Batches


@dataclass(frozen=True, slots=True)
class Check:
    """A check, with the value that it requires and the value that was reached."""

    check: str
    required: float
    reached: float | None
    ok: bool


@dataclass(frozen=True, slots=True)
class EquivalenceClass:
    """Rows that are equal in all quasi-identifiers, as a model of your own gets them.

    ``size`` is the number of rows, or of persons under ENTITY. ``counts`` has the number for each value of the
    sensitive attribute; it is empty for a model that reads no attribute.
    """

    size: int
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A privacy model in the form that the native module takes."""

    name: str
    summary: str
    parameters: list[str]
    holds: Callable[[int, list[int], list[float]], object]
    sql: str
    bound: str
    is_upper: bool
    reads_attribute: bool
    monotone: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning about the roles of a request."""

    kind: str
    columns: tuple[str, ...]
    text: str
    accepted: bool

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> Warned:
        return cls(**{**value, "columns": tuple(value["columns"])})


@dataclass(frozen=True, slots=True)
class Drifted:
    """A difference between the data and an earlier release."""

    kind: str
    columns: tuple[str, ...]
    values: int | None
    classes: int | None
    rows: int | None
    allowed: int | None
    text: str

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> Drifted:
        return cls(**{**value, "columns": tuple(value["columns"])})


@dataclass(frozen=True, slots=True)
class Lifted:
    """The column that blocks a release most, among those that LEVELS keeps below their top.

    ``level`` is the top, and ``suppressed`` the number of rows that would have to be suppressed at that level.
    """

    column: str
    level: int
    suppressed: int


@dataclass(frozen=True, slots=True)
class NearestMiss:
    """How near an infeasible request is to a release.

    ``node`` is the level of each quasi-identifier, and empty for local recoding. ``suppressed`` is the number of rows
    that would have to be suppressed, and ``allowed`` is the number that may be.
    """

    node: Mapping[str, int]
    rows: int
    suppressed: int
    allowed: int
    lifted: Lifted | None

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> NearestMiss:
        lifted = value["lifted"]
        return cls(**{**value, "lifted": None if lifted is None else Lifted(*lifted)})


@dataclass(frozen=True, slots=True)
class Release:
    """The figures of a release.

    ``outcome`` is ``released`` (to a target), ``rows`` (without a target), ``dry run``, ``kept`` (IF NOT EXISTS kept
    the existing target) or ``waiting`` (no row could be added yet). A figure is None if the outcome has none, or if
    differential privacy keeps it secret.
    """

    outcome: str
    target: str | None = None
    k: int | None = None
    rows_in: int | None = None
    rows: int | None = None
    suppressed: int | None = None
    classes: int | None = None
    search: str | None = None
    node: str | None = None
    metric: str | None = None
    value: float | None = None
    proof: str | None = None
    nodes: int | None = None
    checks: tuple[Check, ...] = ()
    warnings: tuple[Warned, ...] = ()
    advice: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    waiting: int | None = None
    report: str | None = None
    _manifest: str | None = field(default=None, repr=False)

    @classmethod
    def _of(cls, values: Mapping[str, Any]) -> Release:
        given = dict(values)
        manifest = given.pop("manifest_json", None)
        given["checks"] = tuple(Check(**check) for check in given.get("checks", ()))
        given["warnings"] = tuple(Warned._of(warned) for warned in given.get("warnings", ()))
        if "metrics" not in given and given.get("value") is not None:
            given["metrics"] = {given["metric"]: given["value"]}
        return cls(_manifest=manifest, **given)

    @property
    def manifest(self) -> str | None:
        """The path or URL of the manifest; None if nothing was written."""
        if self._manifest is None or self.target is None:
            return None
        return f"{self.target.rstrip('/')}/_manifest.json"

    def read_manifest(self) -> dict[str, Any]:
        """Return the manifest as a dictionary, which is empty if nothing was written."""
        text = self._manifest
        if self.manifest is not None and os.path.exists(self.manifest):
            # The file also has its own checksum.
            with open(self.manifest, encoding="utf-8") as file:
                text = file.read()
        read: dict[str, Any] = {} if text is None else json.loads(text)
        return read

    def _repr_html_(self) -> str:
        return _html.release(self)

    def __fspath__(self) -> str:
        """Return the target, so that a release can be used as a path."""
        if self.target is None:
            raise ValueError("this release was not written to a target; write request.to(\"out/people/\")")
        return os.fspath(self.target)


@dataclass(frozen=True, slots=True)
class Verification:
    """The checks of a VERIFY, and everything that it could not check."""

    checks: tuple[Check, ...]
    unchecked: tuple[str, ...]
    gaps: tuple[str, ...]
    undecided: tuple[Check, ...]
    files_read: int | None
    failed: tuple[str, ...]

    @classmethod
    def _of(cls, values: Mapping[str, Any]) -> Verification:
        given = dict(values)
        for name in ("checks", "undecided"):
            given[name] = tuple(Check(**check) for check in given[name])
        for name in ("unchecked", "gaps", "failed"):
            given[name] = tuple(given[name])
        return cls(**given)

    def _repr_html_(self) -> str:
        return _html.verification(self)

    @property
    def holds(self) -> bool:
        """Whether every check holds and, in a strict session, everything was checked."""
        return not self.failed

    def __bool__(self) -> bool:
        return self.holds

    def raise_for_failure(self) -> Verification:
        """Raise VerificationFailed if a check does not hold; return the verification otherwise."""
        if self.failed:
            from ._errors import VerificationFailed

            what = "; ".join(self.failed)
            raise VerificationFailed(f"a check of VERIFY does not hold: {what}", checks=self.checks, gaps=self.gaps)
        return self


class Rows:
    """The rows that a statement returned, in memory.

    pyarrow, Polars, pandas, DuckDB, DataFusion and any other package that reads ``__arrow_c_stream__`` can take them
    without a copy. ``release`` has the figures if they are the rows of an ANONYMIZE. Released rows were recounted
    before they were returned.
    """

    __slots__ = ("_batches", "_picture", "release")

    release: Release | None

    def __init__(self, batches: Batches, release: Release | None = None, picture: bytes | None = None) -> None:
        self._batches = batches
        self._picture = picture
        self.release = release

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._batches.columns

    def __len__(self) -> int:
        return len(self._batches)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._batches.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._batches.__arrow_c_schema__()

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table."""
        import pyarrow

        # ``pyarrow.table`` would import pandas, which takes 50 MB.
        return pyarrow.RecordBatchReader.from_stream(self).read_all()

    def to_polars(self) -> Any:
        """Return a polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame."""
        return self.to_arrow().to_pandas()

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook: figures of a release, a risk or a front, and no row of a table."""
        return _html.rows(self, self._picture)

    def __repr__(self) -> str:
        return f"<Rows: {len(self)} of {', '.join(self.columns)}>"

    def __str__(self) -> str:
        text = self._batches.text(40)
        return text if len(self) <= 40 else f"{text}\n({len(self)} rows)"
