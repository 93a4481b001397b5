"""Tests of releases, verifications and rows."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import anonsql


def test_a_release_has_its_figures(request_: anonsql.Anonymize, tmp_path: Path) -> None:
    release = request_.suppress("1%").report(tmp_path / "report.html").to(tmp_path / "out")
    assert isinstance(release, anonsql.Release) and release.outcome == "released"
    assert release.k is not None and release.k >= 5 and release.rows == 200 and release.suppressed == 0
    assert release.checks and all(check.ok for check in release.checks)
    assert release.manifest == str(tmp_path / "out" / "_manifest.json")
    written = json.loads(Path(release.manifest).read_text())
    assert written["classes"] == release.classes and written["metrics"] == release.metrics
    assert release.read_manifest()["sha256"] == written["sha256"]
    assert release.report == str(tmp_path / "report.html") and Path(release.report).exists()
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.k = 1  # type: ignore[misc]
    assert list(Path(release).glob("*.parquet"))


def test_the_same_by_sql(con: anonsql.Connection, request_: anonsql.Anonymize, tmp_path: Path) -> None:
    first = request_.to(tmp_path / "a")
    second = con.sql(str(request_).replace("people", f"people TO '{tmp_path / 'b'}'", 1))
    assert dataclasses.replace(second, target=first.target, _manifest=first._manifest) == first


def test_what_was_not_written_says_so(con: anonsql.Connection, request_: anonsql.Anonymize, tmp_path: Path) -> None:
    request_.to(tmp_path / "out")
    kept = request_.to(tmp_path / "out", if_exists="skip")
    assert (kept.outcome, kept.k, kept.manifest) == ("kept", None, None)
    con.set(dry_run=True)
    foreseen = request_.to(tmp_path / "other")
    assert foreseen.outcome == "dry run" and foreseen.k is not None and not (tmp_path / "other").exists()


def test_rows_come_with_their_figures(request_: anonsql.Anonymize) -> None:
    rows = request_.rows()
    assert rows.columns == ["age", "sex", "diagnosis"] and len(rows) == 200
    assert rows.release is not None and rows.release.outcome == "rows" and rows.release.k is not None
    assert rows.release.metrics


def test_verify_knows_what_a_release_promises(con: anonsql.Connection, request_: anonsql.Anonymize, tmp_path: Path) -> None:
    release = request_.satisfying(l_diversity=(3, "diagnosis")).to(tmp_path / "out")
    verification = con.verify(release, against="people")
    assert verification and verification.raise_for_failure() is verification
    assert {"k_anonymity(5)", "l_diversity(3) ON diagnosis"} <= {check.check for check in verification.checks}
    other = anonsql.connect(threads=1)
    assert other.verify(str(tmp_path / "out")).holds
    with pytest.raises(anonsql.InvalidStatement, match="has no manifest"):
        con.verify(str(tmp_path / "nothing/"))


def test_a_failed_verification_is_not_raised_until_asked(con: anonsql.Connection) -> None:
    verification = con.verify("people", quasi=["age", "sex"], k_anonymity=50)
    assert not verification and not verification.holds
    with pytest.raises(anonsql.VerificationFailed) as raised:
        verification.raise_for_failure()
    assert raised.value.checks == verification.checks and not raised.value.checks[0].ok
    with pytest.raises(anonsql.VerificationFailed):
        con.sql("VERIFY people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(50); SELECT 1")


def test_what_else_is_asked(con: anonsql.Connection, request_: anonsql.Anonymize, tmp_path: Path) -> None:
    release = request_.to(tmp_path / "out")
    assert "prosecutor" in str(con.risk("people", quasi=["age", "sex"], k=5))
    assert len(con.risk("people", quasi=["age", "sex"], per_row=True)) == 200
    assert "identifier" in str(con.suggest("people"))
    assert "total variation" in str(con.utility(release, "people"))
    asked = request_.report(tmp_path / "unused.html")
    assert len(asked.compare("flash", "mondrian")) == 2 and len(con.compare(asked, recodings=["global", "local"])) == 2
    assert len(asked.lattice()) == 10
    assert asked.explore(tmp_path / "lattice.html").to_arrow().column("nodes").to_pylist() == ["10"]
    assert "<canvas" in (tmp_path / "lattice.html").read_text()
    assert len(asked.pareto_front("max k", "min glm", picture=tmp_path / "front.svg")) > 0
    assert (tmp_path / "front.svg").exists() and not (tmp_path / "unused.html").exists()
    assert len(asked.explain()) > 0 and len(con.explain(asked, analyze=True)) > 0


def test_warnings_are_warnings(con: anonsql.Connection) -> None:
    request = con.anonymize("people").quasi("age", using="age").keep("name", "sex", "diagnosis").satisfying(k_anonymity=2)
    with pytest.warns(anonsql.AnonsqlWarning, match="name") as told:
        rows = request.rows()
    assert {warning.filename for warning in told} == {__file__}
    assert rows.release is not None and {"name"} <= {c for w in rows.release.warnings for c in w.columns}


def test_metadata_of_a_nested_field_of_a_file_is_not_in_the_release(con: anonsql.Connection, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    field = pa.field("q", pa.string(), metadata={"K": "SECRETMETA"})
    table = pa.table({"age": [30] * 6, "kept": pa.array([{"q": "a"}] * 6, pa.struct([field]))})
    parquet.write_table(table, tmp_path / "people.parquet")
    request = con.anonymize(tmp_path / "people.parquet").quasi("age").keep("kept").satisfying(k_anonymity=3)
    assert "SECRETMETA" not in request.rows().to_arrow().schema.to_string()
    release = request.to(tmp_path / "out")
    assert release.manifest is not None and "SECRETMETA" not in Path(release.manifest).read_text()
