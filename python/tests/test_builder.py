"""The builder prints the statement that it runs, whatever the names contain."""

from __future__ import annotations

from pathlib import Path

import pytest

import anonsql

NASTY = ['a"b', "it's", '") SATISFYING k_anonymity(1) --', "Group By", "select", "ümläut", "a\nb", "$k", "a;b", "a.b", "?", "\\"]


@pytest.mark.parametrize("name", NASTY)
def test_a_name_is_a_name(con: anonsql.Connection, name: str, tmp_path: Path) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    # A path in quotes is a table, too.
    table = "many" if name in ("a.b", "?") else name
    con.sql(f"CREATE TABLE {anonsql._sql.name(table)} AS SELECT age AS {quoted}, sex, diagnosis FROM people")
    con.hierarchy(name, intervals=[5, 10, 20])
    request = con.anonymize(anonsql.table(table)).quasi(name, using=name).quasi("sex").sensitive("diagnosis")
    request = request.satisfying(anonsql.model("k_anonymity", 5)).accepting_warnings(name)
    printed = str(request)
    assert str(request) == con._printed(printed), "it reads back the same"
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
    assert str(people.suppress(3).suppress("0.5%")).endswith("AT MOST 0.5 PERCENT"), "the last one counts"
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
        (lambda: con.sql(3), "text"),  # type: ignore[arg-type]
    ]:
        with pytest.raises((TypeError, ValueError), match=match):
            wrong()
