"""Tests of Ctrl-C, threads, forks, and the command."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import anonsql


def slow(con: anonsql.Connection) -> anonsql.Anonymize:
    """Return a request with a long search, which assesses every node of a large lattice."""
    columns = [f"c{i}" for i in range(9)]
    values = ", ".join(f"(value * {7 + 2 * i}) % 64 AS {name}" for i, name in enumerate(columns))
    con.sql(f"CREATE TABLE wide AS SELECT {values} FROM range(0, 3000)")
    con.hierarchy("wide", intervals=[2, 4, 8, 16, 32])
    request = con.anonymize("wide").quasi(*columns, using="wide")
    return request.satisfying(k_anonymity=2).suppress("100%").search("exhaustive")


def interrupts(*after: float, sent: list[float] | None = None) -> threading.Thread:
    """Send SIGINT to this process after each delay in seconds, and record the times in ``sent``."""

    def send() -> None:
        for seconds in after:
            time.sleep(seconds)
            if sent is not None:
                sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_the_first_interrupt_ends_a_search_with_the_best_so_far(con: anonsql.Connection, tmp_path: Path) -> None:
    request = slow(con)
    thread = interrupts(2.0)
    with pytest.warns(anonsql.AnonsqlWarning, match="interrupted"):
        release = request.to(tmp_path / "out")
    thread.join()
    assert release.outcome == "released" and release.k is not None and release.k >= 2
    assert con.verify(release).holds


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_the_second_interrupt_leaves_the_target_as_it_was(con: anonsql.Connection, tmp_path: Path) -> None:
    con.sql("CREATE TABLE many AS SELECT a.value AS x FROM range(0, 3000) AS a, range(0, 3000) AS b")
    (tmp_path / "out").mkdir()
    thread = interrupts(1.0)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        # This statement has no search, so the first interrupt cancels it.
        con.sql("SELECT count(*) FROM many AS a JOIN many AS b ON a.x % 7 = b.x % 7")
    assert time.monotonic() - began < 5
    thread.join()
    assert list((tmp_path / "out").iterdir()) == []
    assert len(con.sql("SELECT 1")) == 1, "the session goes on"


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_two_interrupts_of_a_search_leave_nothing_or_a_whole_release(con: anonsql.Connection, tmp_path: Path) -> None:
    request = slow(con).sensitive()
    thread = interrupts(1.0, 0.01)
    try:
        release: anonsql.Release | None = request.to(tmp_path / "out")
    except KeyboardInterrupt:
        release = None
    thread.join()
    if release is not None or (tmp_path / "out").exists():
        # The second interrupt arrived after the release was published.
        con.verify(tmp_path / "out").raise_for_failure()
    assert not [hidden for hidden in tmp_path.iterdir() if hidden.name.startswith(".")]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_what_was_cancelled_does_not_come_later(request_: anonsql.Anonymize, tmp_path: Path) -> None:
    began = time.monotonic()
    request_.to(tmp_path / "first")
    took = time.monotonic() - began
    for i in range(12):
        target = tmp_path / f"out{i}"
        said = None
        thread = None
        try:
            thread = interrupts(took * i / 11)
            request_.to(target)
            # The interrupt arrives here if the release ended first.
            thread.join()
            time.sleep(0.05)
        except KeyboardInterrupt as interrupt:
            said = str(interrupt)
        if thread is not None:
            thread.join()
        time.sleep(0.2)
        if said is not None and "cancelled" in said:
            assert not target.exists(), f"at {i}"
        if said is not None and "done" in said:
            assert target.exists(), f"at {i}"
    assert not [hidden for hidden in tmp_path.iterdir() if hidden.name.startswith(".")]



@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_ten_interrupts_end_in_the_best_so_far(con: anonsql.Connection, tmp_path: Path) -> None:
    request, moments = slow(con), random.Random(39)
    for i in range(10):
        target = tmp_path / f"out{i}"
        after = moments.uniform(0.4, 1.0)
        while True:
            sent: list[float] = []
            thread = interrupts(after, sent=sent)
            try:
                with pytest.warns(anonsql.AnonsqlWarning, match="best node so far"):
                    release = request.to(target)
            except KeyboardInterrupt:
                # The search had not begun when the interrupt arrived, because the machine is slow.
                thread.join()
                assert not target.exists()
                after *= 2
                continue
            ended = time.monotonic()
            thread.join()
            break
        print(f"{after:.3f} s: ended {ended - sent[0]:.3f} s later with k = {release.k}")
        assert release.outcome == "released" and release.k is not None and release.k >= 2
        con.verify(release).raise_for_failure()
    assert not [hidden for hidden in tmp_path.iterdir() if hidden.name.startswith(".")]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_ten_interrupts_leave_the_target_as_it_was(
    con: anonsql.Connection, request_: anonsql.Anonymize, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    request_.to(target)
    before = {file.name: file.read_bytes() for file in target.iterdir()}
    # Reading the source takes minutes, so the first interrupt arrives before the search, and cancels the statement.
    much = "SELECT a.value % 90 AS age FROM range(0, 3000000) AS a JOIN range(0, 3000000) AS b ON a.value % 7 = b.value % 7"
    request = con.anonymize(anonsql.query(much)).quasi("age", using="age").satisfying(k_anonymity=2)
    moments = random.Random(40)
    for _ in range(10):
        after = moments.uniform(0.05, 0.8)
        sent: list[float] = []
        thread = interrupts(after, sent=sent)
        with pytest.raises(KeyboardInterrupt, match="cancelled"):
            request.to(target, if_exists="overwrite")
        ended = time.monotonic()
        thread.join()
        print(f"{after:.3f} s: ended {ended - sent[0]:.3f} s later")
        assert {file.name: file.read_bytes() for file in target.iterdir()} == before
        assert [file.name for file in tmp_path.iterdir()] == ["out"]
    con.verify(target).raise_for_failure()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_an_interrupt_of_register_is_one(con: anonsql.Connection) -> None:
    pa = pytest.importorskip("pyarrow")

    def slowly() -> Iterator[object]:
        for i in range(1000):
            time.sleep(0.02)
            yield pa.record_batch({"a": [i]})

    def quickly() -> Iterator[object]:
        # Each batch is quick, but the stream never ends.
        batch = pa.record_batch({"a": list(range(1000))})
        while True:
            yield batch

    con.register("a", pa.table({"before": [1]}))
    for batches in (slowly(), quickly()):
        reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches)
        handler = signal.getsignal(signal.SIGINT)
        thread = interrupts(0.3)
        with pytest.raises(KeyboardInterrupt):
            con.register("a", reader)
        thread.join()
        assert signal.getsignal(signal.SIGINT) is handler
        assert con.sql("SELECT * FROM a").columns == ["before"], "a cancelled register changes nothing"


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_an_interrupt_between_batches_of_another_package_is_one() -> None:
    pa = pytest.importorskip("pyarrow")
    con = anonsql.connect(threads=1)
    # No Python code runs while these batches are read.
    batch = pa.record_batch({"a": list(range(100_000))})
    table = pa.Table.from_batches([batch] * 100_000)
    thread = interrupts(0.3)
    with pytest.raises(KeyboardInterrupt):
        con.register("a", table)
    thread.join()


def test_other_threads_run_meanwhile(con: anonsql.Connection) -> None:
    count = 0
    done = threading.Event()

    def counts() -> None:
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.005)

    thread = threading.Thread(target=counts)
    thread.start()
    began = time.monotonic()
    con.sql("SELECT count(*) FROM range(0, 20000) AS a JOIN range(0, 20000) AS b ON a.value % 500 = b.value % 500")
    took = time.monotonic() - began
    done.set()
    thread.join()
    assert count >= took / 0.02


def test_several_threads_use_one_session(con: anonsql.Connection, request_: anonsql.Anonymize) -> None:
    found: list[int | None] = []

    def run() -> None:
        release = request_.rows().release
        found.append(release and release.k)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(found)) == 1 and found[0] is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_forked_child_is_told_so() -> None:
    script = """
import anonsql, os, sys
con = anonsql.connect(threads=1)
con.sql("SELECT 1")
child = os.fork()
if child == 0:
    try:
        con.sql("SELECT 1")
    except RuntimeError as error:
        os._exit(7 if "forked" in str(error) else 1)
    os._exit(2)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == 7


def command(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "anonsql", *arguments]
    return subprocess.run(run, capture_output=True, text=True, timeout=120, check=False, **more)  # type: ignore[call-overload, no-any-return]


def test_the_command_is_the_command(tmp_path: Path) -> None:
    version = command("--version")
    assert version.returncode == 0 and version.stdout.startswith("anonsql ")
    printed = command("--no-init", "--format", "csv", "-c", "SELECT 1 AS one")
    assert (printed.returncode, printed.stdout) == (0, "one\n1\n"), printed.stderr
    limited = command("--no-init", "--format", "csv", "--memory-limit", "500MB", "-c", "SELECT 2 AS two")
    assert (limited.returncode, limited.stdout) == (0, "two\n2\n"), "the command starts itself again"
    infeasible = "ANONYMIZE (SELECT 31 AS age) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)"
    assert command("--no-init", "-c", infeasible).returncode == 3
    assert command("--nonsense").returncode == 1
    script_entry = Path(sys.executable).parent / "anonsql"
    if script_entry.exists():
        run = [str(script_entry), "--no-init", "--memory-limit", "500MB", "--format", "csv", "-c", "SELECT 4 AS four"]
        assert subprocess.run(run, capture_output=True, text=True, timeout=120, check=False).stdout == "four\n4\n"
    script = tmp_path / "a.sql"
    script.write_text("SELECT 3 AS three;")
    piped = command("--no-init", "--format", "csv", input=script.read_text())
    assert piped.stdout == "three\n3\n"


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_the_command_answers_an_interrupt_itself() -> None:
    slow = "SELECT count(*) FROM range(0, 3000000) AS a JOIN range(0, 3000000) AS b ON a.value % 7 = b.value % 7"
    run = [sys.executable, "-m", "anonsql", "--no-init", "-c", slow]
    with subprocess.Popen(run, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 1 and "interrupted" in said and "Traceback" not in said
