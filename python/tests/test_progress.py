"""Tests of the progress of statements."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path

import pytest

import anonsql
from anonsql._progress import Line, Progress


def slow(con: anonsql.Connection, rows: int = 200_000) -> anonsql.Anonymize:
    """Return a request that takes at least some tenths of a second."""
    con.sql(f"CREATE TABLE crowd AS SELECT value % 90 AS age, value % 1000 AS zip, value % 977 AS amount FROM range(0, {rows})")
    con.hierarchy("years", intervals=[5, 10, 20])
    con.hierarchy("places", intervals=[10, 100])
    request = con.anonymize("crowd").quasi("age", using="years").quasi("zip", using="places").keep("amount")
    return request.satisfying(k_anonymity=5).suppress("5%")


def test_a_function_is_told_how_far_a_statement_is(con: anonsql.Connection, tmp_path: Path) -> None:
    told: list[Progress] = []
    con.progress = told.append
    request = slow(con)
    told.clear()
    # A function is called every 100 ms, and a phase may be shorter on a fast machine.
    for attempt in range(100):
        release = request.to(tmp_path / str(attempt))
        assert release.k is not None and release.k >= 5
        if {progress.phase for progress in told} & {"scan", "write", "verify"}:
            break
    con.progress = False
    number = len(told)
    con.verify(release)
    assert number == len(told) > 0
    for progress in told:
        assert progress.done >= 0 and (progress.best is None or progress.phase == "search")


def test_a_search_tells_its_nodes_and_the_best_value(con: anonsql.Connection, tmp_path: Path) -> None:
    columns = [f"c{i}" for i in range(7)]
    values = ", ".join(f"(value * {7 + 2 * i}) % 64 AS {name}" for i, name in enumerate(columns))
    con.sql(f"CREATE TABLE wide AS SELECT {values} FROM range(0, 3000)")
    con.hierarchy("wide", intervals=[2, 4, 8, 16, 32])
    request = con.anonymize("wide").quasi(*columns, using="wide").satisfying(k_anonymity=2).suppress("100%")
    told: list[Progress] = []

    def stops(progress: Progress) -> None:
        told.append(progress)
        if progress.phase == "search" and progress.best is not None:
            raise LookupError("enough")

    con.progress = stops
    with pytest.raises(LookupError, match="enough"):
        request.search("exhaustive").to(tmp_path / "out")
    last = told[-1]
    assert last.done > 0 and last.expected == 7**7 and f"of {7**7:,} nodes, best " in str(last)
    assert not (tmp_path / "out").exists()
    con.progress = False
    assert len(con.sql("SELECT 1")) == 1, "the session goes on"


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_an_interrupt_within_the_function_ends_the_statement(con: anonsql.Connection, tmp_path: Path) -> None:
    def interrupts(progress: Progress) -> None:
        if progress.phase in ("scan", "write"):
            os.kill(os.getpid(), signal.SIGINT)

    con.progress = interrupts
    with pytest.raises(KeyboardInterrupt):
        slow(con, 2_000_000).to(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_line_is_rewritten_on_a_terminal_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    for out, expected in [
        (Terminal(), "\rscan\rscan: 10 rows\rscan: 50 %, 10 of 20 rows\rwrite                    \r     \r"),
        (io.StringIO(), "scan\nwrite\n"),
    ]:
        line = Line(out)
        for progress in [
            Progress("scan", 0),
            Progress("scan", 10),
            Progress("scan", 10, 20),
            Progress("write", 0, 5),
        ]:
            line(progress)
        line.end()
        assert out.getvalue() == expected
    assert str(Progress("scan", 30, 20)) == "scan: 99 %, 30 of 20 rows"


def test_what_is_no_function_is_refused(con: anonsql.Connection) -> None:
    for wrong in (None, "bar", 1):
        with pytest.raises(TypeError, match="progress is True, False or a function"):
            con.progress = wrong  # type: ignore[assignment]
    con.progress = True
    assert con.progress is True
