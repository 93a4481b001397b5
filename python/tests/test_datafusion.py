"""Tests of datafusion-python: its tables in a session, and the functions of anonsql in its queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonsql
from test_tables import columns

pa = pytest.importorskip("pyarrow")
datafusion = pytest.importorskip("datafusion")


def test_a_context_of_datafusion_is_attached(con: anonsql.Connection, tmp_path: Path) -> None:
    context = datafusion.SessionContext()
    context.from_arrow(pa.table(columns()), name="people")
    context.from_arrow(pa.table({"n": [1, 2, 3]}), name='Odd "name"')
    context.sql("CREATE VIEW young AS SELECT name, age FROM people WHERE age < 35").collect()
    (tmp_path / "f.csv").write_text("a\n1\n2\n")
    context.register_csv("file", tmp_path / "f.csv")
    attached = anonsql.attach(context, threads=1)
    assert attached.sql("SELECT * FROM people").to_arrow().to_pylist() == pa.table(columns()).to_pylist()
    assert attached.sql('SELECT sum(n) AS n FROM "Odd ""name"""').to_arrow().to_pylist() == [{"n": 6}]
    assert attached.sql("SELECT count(*) AS n FROM young").to_arrow().to_pylist() == [{"n": 2}]
    assert attached.sql("SELECT count(*) AS n FROM file").to_arrow().to_pylist() == [{"n": 2}]
    released = attached.anonymize("people").quasi("age").identifiers("name", "born", "seen", "items", "flag", "income")
    assert released.satisfying(k_anonymity=1).rows().release is not None
    few = anonsql.attach(context, tables=["young"])
    assert len(few.sql("SELECT * FROM young")) == 2
    with pytest.raises(anonsql.InvalidStatement):
        few.sql("SELECT * FROM people")
    with pytest.raises(anonsql.DataError, match="has no table 'peple'"):
        anonsql.attach(context, tables=["peple"])
    with pytest.raises(TypeError, match="Connection is not a SessionContext"):
        anonsql.attach(con)
    elsewhere = datafusion.SessionContext(datafusion.SessionConfig().with_default_catalog_and_schema("c", "s"))
    with pytest.raises(anonsql.DataError, match="no schema datafusion.public"):
        anonsql.attach(elsewhere)
    with pytest.raises(TypeError, match=r'tables=\["young"\]'):
        anonsql.attach(context, tables="young")


def people() -> Any:
    """Return six people in two cities."""
    return pa.table(
        {
            "age": [31, 33, 36, 38, 41, 44],
            "city": ["north", "north", "south", "south", "south", "south"],
            "illness": ["flu", "cold", "flu", "flu", "cold", "flu"],
        }
    )


@pytest.fixture
def context() -> Any:
    context = datafusion.SessionContext()
    context.from_arrow(people(), name="people")
    return context


@pytest.fixture
def attached(context: Any) -> anonsql.Connection:
    con = anonsql.attach(context, threads=1)
    con.hierarchy("age", intervals=[10, 20])
    con.hierarchy("compass", values=[("north", "any"), ("south", "any")])
    anonsql.add_functions(context, con)
    return con


def rows(context: Any, query: str) -> list[dict[str, Any]]:
    return pa.table(context.sql(query)).to_pylist()


def test_scalar_functions_answer_in_the_context_what_they_answer_in_the_session(
    context: Any, attached: anonsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONSQL_TEST_SECRET", "0123456789abcdef0123456789abcdef")
    secret = "'env:ANONSQL_TEST_SECRET'"
    for query in [
        "SELECT age, generalize('age', age, 1) AS ten, generalize('age', age, 2) AS twenty FROM people ORDER BY age",
        f"SELECT age, mask_fake(city, 'name', 'de', {secret}) AS n FROM people ORDER BY age",
        f"SELECT age, mask_hash(city, {secret}) AS h FROM people ORDER BY age",
        "SELECT age, mask_format(city, 'X**') AS m FROM people ORDER BY age",
        f"SELECT age, mask_token(city, {secret}) AS t FROM people ORDER BY age",
        f"SELECT age, unmask(mask_token(city, {secret}), {secret}) AS c FROM people ORDER BY age",
    ]:
        here = attached.sql(query).to_arrow().to_pylist()
        assert rows(context, query) == here and len(here) == 6
    names = {function.name for function in attached._session.functions()}
    assert {"generalize", "mask_format", "mask_hash", "mask_token", "unmask"} <= names
    # The context finds each of these functions.
    assert all(context.udf(name).name == name for name in names)


def test_columns_of_one_value_and_no_rows(context: Any, attached: anonsql.Connection) -> None:
    for query in [
        "SELECT generalize('age', age, 1) AS g FROM people WHERE age = 31",
        "SELECT generalize('age', age, 1) AS g FROM people WHERE age = 99",
        "SELECT generalize('age', CAST(NULL AS BIGINT), 1) AS g FROM people",
        "SELECT mask_format(city, 'X**') AS m FROM people WHERE city = 'north'",
        "SELECT mask_format(CAST(NULL AS TEXT), 'X**') AS m FROM people",
    ]:
        assert rows(context, query) == attached.sql(query).to_arrow().to_pylist()


def test_a_hierarchy_that_is_created_later_is_known(context: Any, attached: anonsql.Connection) -> None:
    attached.hierarchy("place", values=[("north", "any"), ("south", "any")])
    assert rows(context, "SELECT DISTINCT generalize('place', city, 1) AS c FROM people") == [{"c": "any"}]


def test_table_functions_read_the_tables_of_the_session(context: Any, attached: anonsql.Connection) -> None:
    assert set(attached._session.table_functions()) == {"hierarchy_levels", "k_anonymity", "pareto_front", "risk"}
    assert rows(context, "SELECT * FROM k_anonymity('people', 'city')") == [{"k": 2, "classes": 2, "rows": 6}]
    for query in [
        "SELECT * FROM risk('people', 'city')",
        "SELECT * FROM hierarchy_levels('compass')",
        "SELECT k FROM pareto_front('ANONYMIZE people QUASI IDENTIFIERS (age USING age) KEEP (city, illness) OPTIMIZING MAX k, MIN glm')",
    ]:
        here = attached.sql(query).to_arrow().to_pylist()
        assert rows(context, query) == here and here


def test_a_release_can_be_joined_and_counted_in_the_context(context: Any, attached: anonsql.Connection) -> None:
    statement = "ANONYMIZE people QUASI IDENTIFIERS (age USING age, city) SENSITIVE (illness) SATISFYING k_anonymity(2)"
    here = attached.sql(statement).to_arrow().to_pylist()
    query = f"SELECT * FROM anonymize('{statement}')"
    key = lambda row: sorted(row.items())  # noqa: E731
    assert sorted(rows(context, query), key=key) == sorted(here, key=key)
    counted = f"SELECT city, count(*) AS n FROM anonymize('{statement} -- a comment') GROUP BY city"
    assert min(row["n"] for row in rows(context, counted)) >= 2
    assert len(rows(context, f"SELECT * FROM anonymize('{statement};')")) == 6


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT * FROM anonymize('SELECT 1')", "takes one ANONYMIZE statement"),
        ("SELECT * FROM anonymize('ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(1); SELECT 1')", "takes one ANONYMIZE"),
        ("SELECT * FROM anonymize()", "takes one statement"),
        ("SELECT * FROM anonymize(3)", "takes one statement"),
        ("SELECT * FROM anonymize('ANONIMIZE people')", "did you mean ANONYMIZE"),
        ("SELECT * FROM anonymize('ANONYMIZE people QUASI IDENTIFIERS (age, city) KEEP (illness) SATISFYING k_anonymity(7)')", "k_anonymity"),
        ("SELECT * FROM risk(random())", "literals"),
        ("SELECT * FROM risk('nobody', 'age')", "nobody"),
        ("SELECT generalize('agee', age, 1) FROM people", "agee"),
        ("SELECT generalize(illness, age, 1) FROM people", "generalize takes the name of a hierarchy"),
        ("SELECT mask_hash(city, illness) FROM people", "mask_hash is"),
    ],
)
def test_what_cannot_be_asked_is_an_error_that_says_why(
    context: Any, attached: anonsql.Connection, query: str, says: str
) -> None:
    with pytest.raises(Exception, match=says) as raised:
        rows(context, query)
    assert "illness" not in str(raised.value) or "illness" in query
    assert not any(value in str(raised.value) for value in ("cold", "flu", "north"))


def test_a_statement_with_a_target_is_refused_before_it_runs(
    context: Any, attached: anonsql.Connection, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    statement = f"ANONYMIZE people TO ''{target}'' QUASI IDENTIFIERS (age, city, illness) SATISFYING k_anonymity(1)"
    with pytest.raises(Exception, match="TO"):
        rows(context, f"SELECT * FROM anonymize('{statement}')")
    assert not target.exists()


def test_the_arguments_are_a_context_and_a_connection(context: Any, con: anonsql.Connection) -> None:
    with pytest.raises(TypeError, match="Connection is not a SessionContext"):
        anonsql.add_functions(con, con)
    with pytest.raises(TypeError, match=r"anonsql.attach\(context\)"):
        anonsql.add_functions(context, context)  # type: ignore[arg-type]


def test_lists_and_structs_of_categories_are_plain(con: anonsql.Connection) -> None:
    con.register("t", pa.table({"a": pa.array(["x", "y"]).dictionary_encode()}))
    made = con.sql("SELECT make_array(a) AS l, named_struct('s', a) AS s FROM t").to_arrow()
    assert made.to_pylist() == [{"l": ["x"], "s": {"s": "x"}}, {"l": ["y"], "s": {"s": "y"}}]
    assert "dictionary" not in str(made.schema)
