"""The exceptions of anonsql, one class for each kind of error.

No message contains a data value: messages name columns, hierarchies and counts.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from typing import Any

from ._values import Check, Drifted, NearestMiss


class Error(Exception):
    """An error of anonsql. The subclass is the kind of error, and its attributes have the details."""


class InvalidStatement(Error):
    """The statement does not parse, or names something that does not exist.

    ``line`` and ``column`` are the place of a syntax error, counted from 1. They are None if the statement parses.
    """

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class DataError(Error):
    """The data does not fit the statement, or a table cannot be registered."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written.

    ``errno`` is the error number of the operating system; None if there is none, as for an object store.
    """

    def __init__(self, message: str, *, errno: int | None = None) -> None:
        super().__init__(message)
        self.errno = errno


class Infeasible(Error):
    """No generalization satisfies the request.

    ``nearest`` shows how near the request is to a release. It is None if nothing was searched.
    """

    def __init__(self, message: str, *, nearest: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.nearest = None if nearest is None else NearestMiss._of(nearest)


class VerificationFailed(Error):
    """A check of a release or of VERIFY does not hold.

    ``checks`` has all checks, including those that hold. ``gaps`` lists what a strict VERIFY could not check.
    """

    def __init__(
        self, message: str, *, checks: Iterable[Mapping[str, Any] | Check] = (), gaps: Iterable[str] = ()
    ) -> None:
        super().__init__(message)
        self.checks = tuple(check if isinstance(check, Check) else Check(**check) for check in checks)
        self.gaps = tuple(gaps)


class TargetExists(Error, FileExistsError):
    """The target exists, and the statement may not replace it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.errno = errno.EEXIST


class Unavailable(Error):
    """A store or a worker does not answer, or another run finished first: the same may succeed later."""


class Drift(Error):
    """The data drifted from the release of USING MANIFEST, and a person has to review it.

    ``found`` lists the differences.
    """

    def __init__(self, message: str, *, found: Iterable[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.found = tuple(Drifted._of(drift) for drift in found)


class Exhausted(Error):
    """Memory or disk ran out."""


class InternalError(Error):
    """A fault in anonsql itself."""


class AnonsqlWarning(UserWarning):
    """A warning about a release, a note, or advice. It has names of columns and counts, and no values."""
