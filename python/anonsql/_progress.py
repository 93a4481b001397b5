"""The progress of a statement, and the line that shows it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a statement.

    ``phase`` is ``scan``, ``search``, ``write``, ``verify`` and so on. ``done`` is the number of rows so far, or of
    nodes in a search. ``expected`` is their total, if it is known. ``best`` is the best value of the metric so far.
    """

    phase: str
    done: int
    expected: int | None = None
    best: float | None = None

    def __str__(self) -> str:
        unit = "nodes" if self.phase == "search" else "rows"
        if not self.done:
            return self.phase
        if not self.expected:
            text = f"{self.done:,} {unit}"
        else:
            # The total may be an estimate, so a running phase never shows 100 %.
            percent = min(100 * self.done // self.expected, 99)
            text = f"{percent} %, {self.done:,} of {self.expected:,} {unit}"
        best = "" if self.best is None else f", best {self.best:.4f}"
        return f"{self.phase}: {text}{best}"


class Line:
    """A line that is rewritten, on a terminal or in a notebook; elsewhere one line for each phase."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = sys.stderr if out is None else out
        self._is_rewritten = self._out.isatty() or "ipykernel" in sys.modules
        self._width = 0
        self._phase = ""

    def __call__(self, progress: Progress) -> None:
        if self._is_rewritten:
            self._rewrite(str(progress))
        elif progress.phase != self._phase:
            self._phase = progress.phase
            print(progress.phase, file=self._out, flush=True)

    def end(self) -> None:
        """Clear the line."""
        if self._width:
            self._rewrite("")
            self._out.write("\r")
            self._out.flush()

    def _rewrite(self, text: str) -> None:
        self._out.write("\r" + text.ljust(self._width))
        self._out.flush()
        self._width = len(text)
