"""Tests of privacy models that are Python functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonsql
from anonsql import EquivalenceClass

SHARE = "{values} SELECT max(n / s) FROM audit_values"
SIZE = "SELECT min(n) FROM (SELECT {size} AS n FROM {rows} {group_by})"


@pytest.fixture
def people(con: anonsql.Connection) -> anonsql.Anonymize:
    con.sql(
        "CREATE TABLE crowd AS SELECT value % 40 AS age, value % 7 AS zip, "
        "CASE WHEN value % 3 = 0 THEN 'flu' WHEN value % 11 < 5 THEN 'cold' ELSE 'asthma' END AS illness FROM range(0, 900)"
    )
    con.hierarchy("years", intervals=[5, 10, 20])
    return con.anonymize("crowd").quasi("age", using="years").quasi("zip").sensitive("illness")


def registered(con: anonsql.Connection, monotone: str = "never") -> None:
    def max_share(one: EquivalenceClass, share: float) -> bool:
        """No value may have more than a share of a class."""
        return max(one.counts) <= share * one.size

    con.register_model(
        "max_share", max_share, sql=SHARE, at_most="share", parameters=["share"], attribute=True, monotone=monotone
    )
    con.register_model("rows", lambda one, n: one.size >= n, sql=SIZE, at_least="n", parameters=["n"])


@pytest.mark.parametrize("monotone", ["never", "without suppression"])
def test_a_model_of_python_is_one_like_the_others(
    con: anonsql.Connection, people: anonsql.Anonymize, tmp_path: Path, monotone: str
) -> None:
    registered(con, monotone)
    own = people.satisfying(rows=20, max_share=(0.6, "illness")).suppress("10%").to(tmp_path / "own")
    # The alpha of (alpha, k)-anonymity limits the same share.
    built_in = people.satisfying(anonsql.model("alpha_k", 0.6, 20, on="illness")).suppress("10%").to(tmp_path / "in")
    assert (own.node, own.classes, own.rows, own.k) == (built_in.node, built_in.classes, built_in.rows, built_in.k)
    checked = {check.check: check for check in own.checks}
    assert any("max_share(0.6)" in name and check.ok for name, check in checked.items()), checked
    assert con.verify(own).holds
    assert "max_share" in str(con.sql("SHOW MODELS"))
    refused = con.verify(own, quasi=["age", "zip"], sensitive=["illness"], rows=10_000)
    assert not refused.holds


def test_a_function_that_says_otherwise_than_its_sql_releases_nothing(
    con: anonsql.Connection, people: anonsql.Anonymize, tmp_path: Path
) -> None:
    con.register_model("anything", lambda one, n: True, sql=SIZE, at_least="n", parameters=["n"])
    with pytest.raises(anonsql.VerificationFailed, match="anything"):
        people.satisfying(anything=100_000).to(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_exception_of_the_function_ends_the_statement(
    con: anonsql.Connection, people: anonsql.Anonymize, tmp_path: Path
) -> None:
    registered(con)

    def fails(one: EquivalenceClass, n: float) -> bool:
        raise LookupError("no such class")

    con.register_model("fails", fails, sql=SIZE, at_least="n", parameters=["n"])
    with pytest.raises(LookupError, match="no such class"):
        people.satisfying(fails=2).to(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert people.satisfying(rows=2).suppress("50%").rows().release.k, "the session goes on"


def test_an_exception_for_one_class_releases_no_other(con: anonsql.Connection, tmp_path: Path) -> None:
    con.sql("CREATE TABLE few AS VALUES (1), (1), (2), (2), (3), (3), (3)")

    def fails(one: EquivalenceClass, n: float) -> bool:
        if one.size == 3:
            raise LookupError("no such class")
        return one.size >= n

    con.register_model("fails", fails, sql=SIZE, at_least="n", parameters=["n"])
    request = con.anonymize("few").quasi("column1").satisfying(fails=2).suppress("50%").at_node(column1=0)
    with pytest.raises(LookupError, match="no such class"):
        request.to(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_two_sessions_have_models_of_their_own() -> None:
    with anonsql.connect(threads=1) as one, anonsql.connect(threads=1) as other:
        for con, least in [(one, 1), (other, 4)]:
            con.register_model(
                "size", lambda c, n, least=least: c.size >= least * n, sql=SIZE, at_least="n", parameters=["n"]
            )
            con.sql("CREATE TABLE t AS VALUES (1), (1), (2), (2), (2), (2)")
        request = [con.anonymize("t").quasi("column1").satisfying(size=1).suppress("50%") for con in (one, other)]
        assert [r.rows().release.classes for r in request] == [2, 1]
        with pytest.raises(anonsql.Error, match="already exists"):
            one.register_model("size", lambda c, n: True, sql=SIZE, at_least="n", parameters=["n"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"at_least": None}, "write at_least"),
        ({"at_most": "n"}, "write at_least"),
        ({"at_least": "m"}, "not among the parameters"),
        ({"parameters": ["n", "n"]}, "named twice"),
        ({"parameters": ["N"], "at_least": "N"}, "lower case"),
        ({"name": "max share"}, "lower case"),
        ({"sql": "SELECT 5"}, "does not read the released rows"),
        ({"sql": SHARE}, "attribute=True"),
        ({"holds": 5}, "a function"),
        ({"monotone": "sometimes"}, "monotone is"),
        ({"name": "k_anonymity"}, "already exists"),
    ],
)
def test_what_is_wrong_with_a_model_is_said(con: anonsql.Connection, given: dict[str, Any], says: str) -> None:
    usual: dict[str, Any] = {
        "name": "own",
        "holds": lambda one, n: one.size >= n,
        "sql": SIZE,
        "at_least": "n",
        "parameters": ["n"],
    }
    with pytest.raises((TypeError, ValueError, anonsql.Error), match=says):
        con.register_model(**{**usual, **given})
