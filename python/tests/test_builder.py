"""Tests that the builder prints the statement that it runs, whatever the names contain."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import anonsql

NASTY = ['a"b', "it's", '") SATISFYING k_anonymity(1) --', "Group By", "select", "ümläut", "a\nb", "$k", "a;b", "a.b", "?", "\\"]


@pytest.mark.parametrize("name", NASTY)
def test_a_name_is_a_name(con: anonsql.Connection, name: str, tmp_path: Path) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    # SQL reads a quoted name with a dot or a question mark as a path.
    table = "many" if name in ("a.b", "?") else name
    con.sql(f"CREATE TABLE {anonsql._sql.name(table)} AS SELECT age AS {quoted}, sex, diagnosis FROM people")
    con.hierarchy(name, intervals=[5, 10, 20])
    request = con.anonymize(anonsql.table(table)).quasi(name, using=name).quasi("sex").sensitive("diagnosis")
    request = request.satisfying(anonsql.model("k_anonymity", 5)).accepting_warnings(name)
    printed = str(request)
    assert str(request) == con._printed(printed), "the statement parses back unchanged"
    rows = request.rows()
    assert rows.columns == [name, "sex", "diagnosis"] and rows.release is not None and (rows.release.k or 0) >= 5
    target = tmp_path / "a 'path' (TO) --"
    assert request.to(target).target == str(target)
    assert con.verify(target).holds


def test_a_text_is_a_text(con: anonsql.Connection) -> None:
    for value in NASTY:
        con.hierarchy("h", values=[(value, "any")], replace=True)
        assert con.hierarchies() == ["age", "h"]
        assert len(con.sql("SHOW HIERARCHIES")) == 2


def test_every_clause(con: anonsql.Connection) -> None:
    request = (
        con.anonymize(anonsql.query("SELECT * FROM people"))
        .identifiers("name", secret="env:SECRET")
        .quasi("age", using="age", levels=(0, 2), weight=0.5, labels="bounds")
        .quasi("sex")
        .sensitive("diagnosis")
        .entity("name")
        .population("census")
        .satisfying(anonsql.model("k_anonymity", 3, any=2), t_closeness=(0.2, "diagnosis"), l_diversity=(2, "diagnosis"))
        .suppress(0.015)
        .suppressed_rows("starred")
        .minimizing("glm")
        .recoding("local")
        .search("mondrian")
        .options(seed=7, time_limit="60s")
        .accepting_warnings("sex")
        .report("r.html", overwrite=True)
    )
    assert str(request) == (
        "ANONYMIZE (SELECT * FROM people) IDENTIFIERS (name HASH WITH SECRET 'env:SECRET') QUASI IDENTIFIERS (age USING age "
        "LEVELS 0 TO 2 WEIGHT 0.5 LABELS BOUNDS, sex) SENSITIVE (diagnosis) ENTITY (name) POPULATION census SATISFYING "
        "k_anonymity(3) ON ANY 2 AND t_closeness(0.2) ON diagnosis AND l_diversity(2) ON diagnosis SUPPRESSING AT MOST 1.5 "
        "PERCENT SUPPRESSED ROWS STARRED MINIMIZING glm RECODING LOCAL SEARCH USING mondrian WITH (seed = 7, "
        "time_limit = '60s') ACCEPTING WARNINGS ON (sex) REPORT TO 'r.html' OVERWRITE"
    )
    people = con.anonymize("people").quasi("age").satisfying(k_anonymity=2)
    assert str(people.at_node(age=1)).endswith("AT NODE (age 1)")
    assert str(people.using_manifest("out", on_drift="warn")).endswith("USING MANIFEST 'out' ON DRIFT WARN")
    assert str(con.anonymize("people").using_policy("P 1").options(seed=3)) == (
        'ANONYMIZE people USING POLICY "P 1" WITH (seed = 3)'
    )
    assert str(people.following("health_canada")).endswith(" FOLLOWING health_canada")
    assert str(people.suppress(3).suppress("0.5%")).endswith("AT MOST 0.5 PERCENT"), "the last call counts"
    assert str(people.search("genetic", iterations=5)).endswith("SEARCH USING genetic(iterations => 5)")


def test_what_they_share_is_kept(con: anonsql.Connection) -> None:
    people = con.anonymize("people").quasi("age")
    five, ten = people.satisfying(k_anonymity=5), people.satisfying(k_anonymity=10)
    assert "k_anonymity(5)" in str(five) and "k_anonymity(10)" in str(ten) and "(5)" not in str(ten)


def test_sources() -> None:
    for path in ["a/b", "people.csv", "s3://lake/people", "*.json", Path("people")]:
        assert str(anonsql._builder.source(path)) == f"'{path}'"
    assert str(anonsql._builder.source("People")) == '"People"'
    assert str(anonsql.path("a.csv", delimiter=";", **{"format.x": 1})) == "'a.csv' OPTIONS (delimiter ';', 'format.x' 1)"
    with pytest.raises(TypeError, match="con.register"):
        anonsql._builder.source(3)  # type: ignore[arg-type]


def test_mistakes_say_what_to_write(con: anonsql.Connection) -> None:
    people = con.anonymize("people").quasi("age")
    for wrong, match in [
        (lambda: people.suppress("1"), "1%"),
        (lambda: people.suppress(1.5), "number of rows"),
        (lambda: people.suppress(True), "1%"),
        (lambda: people.recoding("global; DROP TABLE people"), "global, local"),
        (lambda: people.quasi("age", labels="x"), "bounds"),
        (lambda: people.quasi(3), "map\\(str\\)"),  # type: ignore[arg-type]
        (lambda: people.satisfying(k_anonymity=float("nan")).rows(), "finite"),
        (lambda: people.to("out", if_exists="replace"), "overwrite"),
        (lambda: people.pareto_front("k"), "max k"),
        (lambda: con.hierarchy("x"), "intervals"),
        (lambda: con.sql(3), "string"),  # type: ignore[arg-type]
    ]:
        with pytest.raises((TypeError, ValueError), match=match):
            wrong()


def test_numbers_of_other_packages(con: anonsql.Connection) -> None:
    numpy = pytest.importorskip("numpy")
    people = con.anonymize("people").quasi("age", using="age", levels=(numpy.int64(0), numpy.int32(2)), weight=Fraction(1, 2))
    for given, written in [
        (numpy.int64(5), "k_anonymity(5)"),
        (Fraction(5), "k_anonymity(5)"),
        (True, "k_anonymity"),
        (Decimal("0.25"), "k_anonymity(0.25)"),
        (numpy.float64(0.1), "k_anonymity(0.1)"),
        (numpy.float32(0.2), "k_anonymity(0.2)"),
        (Fraction(1, 11), "k_anonymity(1/11)"),
    ]:
        assert str(people.satisfying(k_anonymity=given)).endswith(f"LEVELS 0 TO 2 WEIGHT 0.5) SATISFYING {written}")
    assert str(people.satisfying(max_risk=Fraction(1, 11))).endswith("max_risk(1/11)")
    five = people.satisfying(k_anonymity=5)
    for share, limit in [
        (numpy.float32(0.01), "1 PERCENT"),
        (Fraction(1, 100), "1 PERCENT"),
        (Decimal("0.015"), "1.5 PERCENT"),
        ("1.5 %", "1.5 PERCENT"),
        (numpy.int64(3), "3 ROWS"),
    ]:
        assert str(five.suppress(share)).endswith(f"AT MOST {limit}")
    assert str(five.at_node(age=numpy.int64(1))).endswith("AT NODE (age 1)")
    assert "seed = 7" in str(five.options(seed=numpy.uint8(7)))
    day = numpy.datetime64("2020-01-31")
    assert "'2020-01-31'" in str(five.options(x=day)) and "true" in str(five.options(x=numpy.bool_(True)))
    con.hierarchy("x", intervals=numpy.array([5, 10, 20]), top_code=numpy.int64(90))
    con.hierarchy("y", prefix=numpy.array([3, 2]))
    assert len(anonsql.connect(memory_limit=numpy.int64(10**9), threads=numpy.int64(1)).sql("SELECT 1")) == 1
    assert len(anonsql.connect(memory_limit=1e9).sql("SELECT 1")) == 1
    rows = people.satisfying(max_risk=Fraction(1, 5)).identifiers("name", "sex", "diagnosis").rows()
    assert rows.release is not None and (rows.release.k or 0) >= 5


def test_a_wrong_type_says_what_to_write(con: anonsql.Connection, tmp_path: Path) -> None:
    people: Any = con.anonymize("people").quasi("age")
    anything: Any = con
    for wrong, match in [
        (lambda: anonsql.connect(threads=0), "leave it out"),
        (lambda: anonsql.connect(threads="2"), "threads=2"),  # type: ignore[arg-type]
        (lambda: anonsql.connect(threads=1.5), "threads=2"),  # type: ignore[arg-type]
        (lambda: anonsql.connect(memory_limit=[2]), "2GB"),  # type: ignore[arg-type]
        (lambda: anonsql.connect(temp_dir=3), "temp_dir="),  # type: ignore[arg-type]
        (lambda: anything.sql(people), r"request\.rows\(\)"),
        (lambda: anything.sql(None), r"con\.sql\("),
        (lambda: anything.sql_rows("VERIFY people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)"), r"con\.sql\("),
        (lambda: people.quasi(["age", "sex"]), r"\*columns"),
        (lambda: people.identifiers(("name",)), r"\*columns"),
        (lambda: people.keep("pay", secret="env:S"), "a secret needs a mask"),
        (lambda: people.keep("pay", mask="NOISE (0.1)) SATISFYING k_anonymity(1) --"), "in SQL syntax"),
        (lambda: people.identifiers("name", mask=3), "in SQL syntax"),
        (lambda: people.quasi("sex", levels=2), r"levels=\(0, 2\)"),
        (lambda: people.quasi("sex", levels=(0, 1, 2)), r"levels=\(0, 2\)"),
        (lambda: people.quasi("sex", weight="x"), "float"),
        (lambda: people.quasi("sex", labels=3), "bounds"),
        (lambda: people.suppress(None), "1%"),
        (lambda: people.suppress("many%"), "1%"),
        (lambda: people.suppress("inf%"), "1%"),
        (lambda: people.suppress(-1), "at least 0"),
        (lambda: people.suppress(Decimal("nan")), "number of rows"),
        (lambda: people.satisfying("k_anonymity(5)"), "k_anonymity=5"),
        (lambda: str(people.satisfying(k_anonymity=None)), r"int\(\.\.\.\)"),
        (lambda: str(people.satisfying(k_anonymity=Decimal("inf"))), "finite"),
        (lambda: people.to(None), r"\.rows\(\)"),
        (lambda: people.to(3), "out/people/"),
        (lambda: people.to(b"out"), "out/people/"),
        (lambda: people.report(3), "people.html"),
        (lambda: people.using_manifest(None), "out/people/"),
        (lambda: people.pareto_front(3), "max k"),
        (lambda: str(anything.anonymize(anonsql.query(people))), r"anonsql\.query\("),
        (lambda: anything.hierarchy("x", intervals=5), r"intervals=\[5, 10, 20\]"),
        (lambda: anything.hierarchy("x", prefix="5"), r"prefix=\[4, 3, 2\]"),
        (lambda: anything.hierarchy("x", truncate="month"), r"\['month'\]"),
        (lambda: anything.hierarchy("x", values=["flu", "cold"]), r"values=\[\("),
        (lambda: anything.hierarchy("x", file=3), "age.csv"),
        (lambda: anything.risk("people", quasi=3), r'\["age", "sex"\]'),
        (lambda: anything.set(seed=object()), r"int\(\.\.\.\)"),
    ]:
        with pytest.raises((TypeError, ValueError), match=match):
            wrong()
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="leave it out"):
        str(people.options(x=pandas.NaT))
