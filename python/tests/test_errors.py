"""Tests of errors: their kinds, their attributes, and the absence of data values."""

from __future__ import annotations

import errno
import pickle
from pathlib import Path

import pytest

import anonsql


def test_every_kind_is_an_error_of_anonsql() -> None:
    kinds = [getattr(anonsql, name) for name in anonsql.__all__]
    kinds = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) == 12
    for kind in kinds:
        assert issubclass(kind, (anonsql.Error, Warning))
        assert str(pickle.loads(pickle.dumps(kind("said")))) == "said"


def test_infeasible_has_the_nearest_miss(con: anonsql.Connection) -> None:
    people = con.anonymize("people").identifiers("name").quasi("age", using="age", levels=(0, 1)).quasi("sex")
    people = people.sensitive("diagnosis")
    with pytest.raises(anonsql.Infeasible) as raised:
        people.satisfying(k_anonymity=150).suppress("1%").rows()
    nearest = raised.value.nearest
    assert nearest is not None and (nearest.rows, nearest.suppressed, nearest.allowed) == (200, 200, 2)
    assert nearest.node == {"age": 1, "sex": 1}
    assert nearest.lifted == anonsql.Lifted("age", 4, 0)
    with pytest.raises(anonsql.Infeasible) as raised:
        people.satisfying(k_anonymity=150).at_node(age=1, sex=0).rows()
    assert raised.value.nearest is not None and raised.value.nearest.suppressed == 200


def test_a_target_that_exists(request_: anonsql.Anonymize, tmp_path: Path) -> None:
    request_.to(tmp_path / "out")
    with pytest.raises(anonsql.TargetExists) as raised:
        request_.to(tmp_path / "out")
    assert isinstance(raised.value, FileExistsError) and raised.value.errno == errno.EEXIST


def test_drift_says_what_it_found(con: anonsql.Connection, tmp_path: Path) -> None:
    con.hierarchy("sex", values=[("f", "any"), ("m", "any")])
    people = con.anonymize("people").identifiers("name").quasi("age", using="age").quasi("sex", using="sex")
    people = people.sensitive("diagnosis").satisfying(k_anonymity=5)
    people.to(tmp_path / "out")
    con.sql("INSERT INTO people VALUES ('name x', 30, 'quixotic', 'flu')")
    with pytest.raises(anonsql.Drift) as raised:
        people.using_manifest(tmp_path / "out").to(tmp_path / "next")
    (found,) = raised.value.found
    assert (found.kind, found.columns, found.values, found.rows) == ("values", ("sex",), 1, 1)
    assert "quixotic" not in str(raised.value) and not (tmp_path / "next").exists()


def test_file_errors_are_os_errors(con: anonsql.Connection, request_: anonsql.Anonymize, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    with pytest.raises(anonsql.FileError):
        con.sql(f"SELECT * FROM '{nothing}.csv'")
    for wrong in [
        f"ANONYMIZE '{nothing}.parquet' QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)",
        f"VERIFY '{nothing}/' QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)",
        f"CREATE HIERARCHY h FROM '{nothing}.csv'",
        "COPY (SELECT 1 AS a) TO '/proc/nothing.parquet'",
    ]:
        with pytest.raises(OSError) as raised:
            con.sql(wrong)
        assert isinstance(raised.value, anonsql.FileError) and raised.value.errno == errno.ENOENT, wrong
    (tmp_path / "file").write_text("")
    with pytest.raises(anonsql.FileError) as raised:
        request_.to(tmp_path / "file" / "out")
    assert raised.value.errno is None, "the error does not come from the system"


def test_statements_that_are_wrong(con: anonsql.Connection) -> None:
    for wrong in ["", "ANONYMIZE people", "SELECT * FROM nowhere", "SELECT nothing FROM people", "CREATE HIERARCHY x AS NO (1)"]:
        with pytest.raises(anonsql.InvalidStatement):
            con.sql(wrong)


def test_no_error_has_a_value(con: anonsql.Connection) -> None:
    con.sql("CREATE TABLE secrets AS SELECT 'quixotic' AS a UNION ALL SELECT 'windmill'")
    con.hierarchy("known", values=[("windmill", "any")])
    for wrong in [
        "SELECT CAST(a AS INT) FROM secrets",
        "SELECT to_timestamp(a) FROM secrets",
        "ANONYMIZE secrets QUASI IDENTIFIERS (a USING known) SATISFYING k_anonymity(1)",
        "SELECT arrow_cast(a, 'Date32') FROM secrets",
    ]:
        with pytest.raises(anonsql.Error) as raised:
            con.sql(wrong)
        assert "quixotic" not in str(raised.value), wrong


def test_limits(tmp_path: Path) -> None:
    with pytest.raises(anonsql.Error, match="memory_limit"):
        anonsql.connect(memory_limit="50MB")
    with pytest.raises(anonsql.Error, match="GB"):
        anonsql.connect(memory_limit="much")
    with pytest.raises(anonsql.Error, match="temp_dir"):
        anonsql.connect(temp_dir=tmp_path / "nothing")
    assert len(anonsql.connect(memory_limit=1_000_000_000, temp_dir=tmp_path).sql("SELECT 1")) == 1


def test_a_statement_that_does_not_parse_says_where(con: anonsql.Connection) -> None:
    for wrong, place in [
        ("SELECT 1;\n  ANONYMIZE people QUASI (age)", (2, 26)),
        ("SELECT 'a", (1, 8)),
        ("SELECT * FROM nowhere", (None, None)),
    ]:
        with pytest.raises(anonsql.InvalidStatement) as raised:
            con.sql(wrong)
        assert (raised.value.line, raised.value.column) == place


def test_warnings_of_releases_before_a_failure_are_issued(con: anonsql.Connection) -> None:
    released = "ANONYMIZE people QUASI IDENTIFIERS (age) KEEP (name, sex, diagnosis) SATISFYING k_anonymity(1)"
    with pytest.warns(anonsql.AnonsqlWarning), pytest.raises(anonsql.InvalidStatement):
        con.sql(f"{released}; SELECT * FROM nobody")


def test_a_strict_verify_in_a_script_says_what_it_could_not_check(con: anonsql.Connection, tmp_path: Path) -> None:
    # The distribution of the whole table cannot be read from a release with suppressed rows.
    con.sql("CREATE TABLE few AS VALUES (30, 'flu'), (30, 'cold'), (30, 'flu'), (99, 'gout')")
    request = con.anonymize("few").quasi("column1").sensitive("column2").at_node(column1=0)
    request = request.satisfying(k_anonymity=2, t_closeness=(1, "column2")).suppress("50%")
    release = request.to(tmp_path / "out")
    assert release.suppressed == 1
    con.set(strict=True)
    verified = con.verify(release)
    assert verified.failed and all(check.ok for check in verified.checks)
    with pytest.raises(anonsql.VerificationFailed, match="not checked: ") as raised:
        con.sql(f"{con._session.promised(str(tmp_path / 'out'))}; SELECT 1")
    assert raised.value.gaps and all(check.ok for check in raised.value.checks)


def test_numbers_that_are_none_are_refused() -> None:
    for memory in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="memory_limit is a finite number of bytes"):
            anonsql.connect(memory_limit=memory)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match='write anonsql.path'):
        anonsql.path(3)  # type: ignore[arg-type]
