"""Mistakes of pandas users: each gives the right result, or an error that says what to write.

No error contains a value: ``quixotic`` occurs only in the rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import anonsql

pd: Any = pytest.importorskip("pandas")
np: Any = pytest.importorskip("numpy")
pytest.importorskip("pyarrow")


def frame() -> Any:
    return pd.DataFrame(
        {
            "age": [31, 33, 36, 38],
            "name": ["Ann", "Bob", "quixotic", "Zoë"],
            "seen": [datetime(2020, 1, 1, 12, tzinfo=timezone.utc)] * 4,
            "sick": ["flu", "cold", "flu", "cold"],
        }
    )


def column(*values: object, dtype: Any = object) -> Any:
    return pd.DataFrame({"a": pd.Series(list(values), dtype=dtype)})


def berlin(text: str) -> Any:
    return pd.Timestamp(text, tz="Europe/Berlin")


#: A table to register, the exception that it raises, and a part of the message.
REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a series": (lambda: frame()["age"], TypeError, "to_frame"),
    "an index of several columns": (lambda: frame().set_index(["age", "name"]), anonsql.DataError, "reset_index"),
    "an index with a name": (lambda: frame().set_index("name"), anonsql.DataError, "reset_index"),
    "columns of several levels": (
        lambda: frame().groupby("sick").agg({"age": ["min", "max"]}),
        anonsql.DataError,
        r"frame\.columns = \[",
    ),
    "a name twice": (lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]), anonsql.DataError, "another name"),
    "numbers as names": (lambda: pd.DataFrame([[1, 2]]), anonsql.DataError, r"map\(str\)"),
    "a pivot": (lambda: frame().pivot_table(index="sick", columns="age", aggfunc="size").reset_index(), anonsql.DataError, r"map\(str\)"),
    "numbers and texts": (lambda: column(1, "quixotic", 2.5), anonsql.DataError, "several types.* write"),
    "numbers and numbers as texts": (lambda: column(1, "2"), anonsql.DataError, r"pandas\.to_numeric"),
    "texts and bytes": (lambda: column("quixotic", b"x"), anonsql.DataError, "several types.* write"),
    "dates and texts": (lambda: column(date(2020, 1, 1), "quixotic"), anonsql.DataError, r"pandas\.to_datetime"),
    "dictionaries and texts": (lambda: column({"x": 1}, "quixotic"), anonsql.DataError, "several types.* write"),
    "booleans and numbers": (lambda: column(True, 1.5), anonsql.DataError, "several types.* write"),
    "objects": (lambda: column(object()), anonsql.DataError, "cannot represent; write"),
    "a UUID": (lambda: column(uuid.UUID(int=5)), anonsql.DataError, r'astype\("string"\)'),
    "complex numbers": (lambda: pd.DataFrame({"a": [1 + 2j]}), anonsql.DataError, r'complex.*astype\("string"\)'),
    "periods": (lambda: pd.DataFrame({"a": pd.period_range("2020", periods=2, freq="M")}), anonsql.DataError, "period.* write"),
    "categories that are periods": (
        lambda: pd.DataFrame({"a": pd.Categorical(pd.period_range("2020", periods=2, freq="M"))}),
        anonsql.DataError,
        r'period.*astype\("string"\)',
    ),
    "the intervals of cut": (lambda: pd.DataFrame({"a": pd.cut([1, 5, 9], [0, 4, 10])}), anonsql.DataError, r'interval.*astype\("string"\)'),
    "categories of several types": (lambda: pd.DataFrame({"a": pd.Categorical([3, "quixotic"])}), anonsql.DataError, "write"),
    "a sparse column": (lambda: pd.DataFrame({"a": pd.arrays.SparseArray([1, 0, 0])}), anonsql.DataError, r"sparse\.to_dense"),
    "texts that are not UTF-8": (lambda: column("\ud800", "quixotic"), anonsql.DataError, r"str\.encode"),
    "numbers of more than 64 bits": (lambda: column(2**70, 1), anonsql.DataError, "64 bits; write"),
    "times with and without a zone": (
        lambda: column(berlin("2020-01-01 12:00"), pd.Timestamp("2020-01-01 12:00")),
        anonsql.DataError,
        "utc=True",
    ),
    "no columns": (lambda: pd.DataFrame(), anonsql.DataError, "no columns"),
    "a list of rows": (lambda: [{"a": 1}], TypeError, "from_pylist"),
    "a list of frames": (lambda: [frame(), frame()], TypeError, r"pandas\.DataFrame\(\.\.\.\)"),
    "columns in a dictionary": (lambda: {"a": [1]}, TypeError, r"pyarrow\.table"),
    "an array of NumPy": (lambda: frame().to_numpy(), TypeError, r"pandas\.DataFrame\(\.\.\.\)"),
    "groups": (lambda: frame().groupby("sick"), TypeError, r"pandas\.DataFrame\(\.\.\.\)"),
    "a class": (lambda: pd.DataFrame, TypeError, r"write DataFrame\(\.\.\.\)"),
    "a path": (lambda: "people.csv", TypeError, "FROM 'people.parquet'"),
    "nothing": (lambda: None, TypeError, "__arrow_c_stream__"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_is_no_table_says_what_to_write(con: anonsql.Connection, mistake: str) -> None:
    make, kind, says = REFUSED[mistake]
    with pytest.raises(kind, match=says) as raised:
        con.register("x", make())
    assert "quixotic" not in "".join(map(str, [raised.value, raised.value.__cause__, raised.value.__context__]))


@pytest.mark.parametrize(
    ("mistake", "repair"),
    [
        ("numbers and texts", lambda f: f.assign(a=f["a"].astype("string"))),
        ("periods", lambda f: f.assign(a=f["a"].astype("string"))),
        ("categories that are periods", lambda f: f.assign(a=f["a"].astype("string"))),
        ("the intervals of cut", lambda f: f.assign(a=f["a"].astype("string"))),
        ("categories of several types", lambda f: f.assign(a=f["a"].astype("string"))),
        ("a UUID", lambda f: f.assign(a=f["a"].astype("string"))),
        ("numbers of more than 64 bits", lambda f: f.assign(a=f["a"].astype("string"))),
        ("a sparse column", lambda f: f.assign(a=f["a"].sparse.to_dense())),
        ("texts that are not UTF-8", lambda f: f.assign(a=f["a"].str.encode("utf-8", "replace").str.decode("utf-8"))),
        ("times with and without a zone", lambda f: f.assign(a=pd.to_datetime(f["a"], utc=True))),
        ("an index with a name", lambda f: f.reset_index()),
        ("an index of several columns", lambda f: f.reset_index(drop=True)),
        ("numbers as names", lambda f: f.set_axis(f.columns.map(str), axis=1)),
        ("columns of several levels", lambda f: f.set_axis(["_".join(map(str, c)) for c in f.columns], axis=1).reset_index()),
        ("a series", lambda f: f.to_frame()),
    ],
    ids=lambda of: of if isinstance(of, str) else "",
)
def test_what_an_error_says_to_write_is_right(con: anonsql.Connection, mistake: str, repair: Callable[[Any], Any]) -> None:
    wrong = REFUSED[mistake][0]()
    assert con.register("x", repair(wrong)).rows == len(wrong)


SECONDS = "CAST(arrow_cast({}(a), 'Timestamp(Second, Some(\"UTC\"))') AS BIGINT)"

#: A table with a column ``a``, the expressions of a query, and the expected row.
RIGHT: dict[str, tuple[Callable[[], Any], str, list[object]]] = {
    "NaN beside None in texts": (lambda: column("x", np.nan, None, pd.NA), "count(a), count(*)", [1, 4]),
    "NaN beside None in numbers": (lambda: pd.DataFrame({"a": [1.0, np.nan, None]}), "count(a), sum(a)", [1, 1.0]),
    "NaN beside NA": (
        lambda: pd.DataFrame({"a": pd.array([0.0, None, 3], dtype="Float64") / pd.array([0.0, 1, 1], dtype="Float64")}),
        "count(a), sum(a)",
        [1, 3.0],
    ),
    "whole numbers with NA": (lambda: pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}), "sum(a), arrow_typeof(max(a))", [4, "Int64"]),
    "booleans with None": (lambda: column(True, None, False), "count(a), sum(CAST(a AS INT))", [2, 1]),
    "NaT": (lambda: pd.DataFrame({"a": [pd.NaT, pd.Timestamp("2020")]}), "count(a), CAST(max(a) AS DATE)", [1, date(2020, 1, 1)]),
    "a time zone": (
        lambda: pd.DataFrame({"a": [berlin("2020-01-01 12:00"), berlin("2020-07-01 12:00")]}),
        f"{SECONDS.format('min')}, {SECONDS.format('max')}",
        [datetime(2020, 1, 1, 11, tzinfo=timezone.utc).timestamp(), datetime(2020, 7, 1, 10, tzinfo=timezone.utc).timestamp()],
    ),
    "several time zones": (
        lambda: column(berlin("2020-01-01 18:00"), pd.Timestamp("2020-01-01 12:00", tz="America/New_York")),
        f"count(DISTINCT a), {SECONDS.format('max')}",
        [1, datetime(2020, 1, 1, 17, tzinfo=timezone.utc).timestamp()],
    ),
    "days before 1677": (lambda: column(datetime(9999, 12, 31), datetime(1, 1, 1)), "CAST(min(a) AS DATE), count(a)", [date(1, 1, 1), 2]),
    "decimals": (lambda: column(Decimal("1.50"), None), "sum(a), count(a)", [Decimal("1.50"), 1]),
    "large numbers without a sign": (lambda: pd.DataFrame({"a": pd.Series([2**63 + 1], dtype="uint64")}), "max(a), 1", [2**63 + 1, 1]),
    "categories that are numbers": (lambda: pd.DataFrame({"a": pd.Categorical([3, 1, 3])}), "count(DISTINCT a), sum(a)", [2, 7]),
    "rows that were filtered": (lambda: column(1, 2, 3, dtype="int64")[lambda f: f["a"] > 1], "count(*), sum(a)", [2, 5]),
    "no rows": (lambda: column(dtype="int64"), "count(*), count(a)", [0, 0]),
    "texts of Arrow": (lambda: pd.DataFrame({"a": pd.array(["x", None], dtype="string")}), "count(a), max(a)", [1, "x"]),
}


@pytest.mark.parametrize("mistake", RIGHT)
def test_what_looks_like_a_mistake_is_right(con: anonsql.Connection, mistake: str) -> None:
    make, query, expected = RIGHT[mistake]
    con.register("x", make())
    (row,) = con.sql(f"SELECT {query} FROM x").to_arrow().to_pylist()
    assert list(row.values()) == expected
    assert con.sql("SELECT * FROM x").columns == ["a"], "the row numbers are not a column"


def test_unused_categories_never_leave(con: anonsql.Connection, tmp_path: Path) -> None:
    city = pd.Categorical(["north", "north", "south", "south"], categories=["north", "south", "quixotic"], ordered=True)
    con.register("c", frame()[["age"]].assign(city=city))
    assert "quixotic" not in str(con.sql("SELECT * FROM c").to_arrow().column("city").chunk(0).dictionary)
    # Nor do the unused categories of a part of a frame.
    con.register("part", frame()[["age"]].assign(city=city).iloc[:2])
    assert con.sql("SELECT DISTINCT city FROM part").to_pandas()["city"].tolist() == ["north"]
    assert "south" not in str(con.sql("SELECT * FROM part").to_arrow().column("city").chunk(0).dictionary)
    release = con.anonymize("c").quasi("age", using="age").quasi("city").satisfying(k_anonymity=2).to(tmp_path / "out")
    for file in Path(release).iterdir():
        assert b"quixotic" not in file.read_bytes()


def test_an_object_of_numbers_is_generalized(con: anonsql.Connection) -> None:
    con.register("x", pd.DataFrame({"age": pd.Series([31, 32, 33, None], dtype=object)}))
    rows = con.anonymize("x").quasi("age", using="age").satisfying(k_anonymity=1).at_node(age=1).rows()
    assert rows.to_arrow()["age"].to_pylist() == ["30-34"] * 3 + [None]


#: A call on the registered frame ``people``, the exception that it raises, and a part of the message.
ASKED: dict[str, tuple[Callable[[Any, Any], Any], type[Exception], str]] = {
    "a column in other letters": (lambda con, p: p.quasi("Age").satisfying(k_anonymity=2).rows(), anonsql.InvalidStatement, 'mean "age"'),
    "a column that is not there": (lambda con, p: p.quasi("ages").satisfying(k_anonymity=2).rows(), anonsql.InvalidStatement, 'mean "age"'),
    "a hierarchy that is not there": (lambda con, p: p.quasi("age", using="Age").satisfying(k_anonymity=2).rows(), anonsql.InvalidStatement, 'mean "age"'),
    "a column that was forgotten": (lambda con, p: p.quasi("age").satisfying(k_anonymity=2).rows(), anonsql.InvalidStatement, r"IDENTIFIERS \("),
    "a column with two roles": (
        lambda con, p: p.quasi("age", "sick").sensitive("sick").satisfying(k_anonymity=2).rows(),
        anonsql.InvalidStatement,
        "two roles",
    ),
    "a list of columns": (lambda con, p: p.quasi(["age", "sick"]), TypeError, r"\*columns"),
    "a column as a text": (lambda con, p: con.risk("people", quasi="age"), TypeError, r"\['age'\]"),
    "a frame as a source": (lambda con, p: con.anonymize(frame()), TypeError, "con.register"),
    "a frame by the name of its variable": (lambda con, p: con.sql("SELECT * FROM frame"), anonsql.InvalidStatement, "known: .*people"),
    "the frame before its name": (lambda con, p: con.register(frame(), "people"), TypeError, r'con\.register\("people", frame\)'),
    "intervals of texts": (
        lambda con, p: p.quasi("sick", using="age").satisfying(k_anonymity=2).identifiers("age", "name", "seen").rows(),
        anonsql.InvalidStatement,
        "cast the column",
    ),
    "a model in other letters": (lambda con, p: p.quasi("age").satisfying(kanonymity=2).rows(), anonsql.InvalidStatement, 'mean "k_anonymity"'),
    "k as a text": (lambda con, p: p.quasi("age").satisfying(k_anonymity="5").rows(), anonsql.InvalidStatement, "whole number"),
    "l without its column": (
        lambda con, p: p.quasi("age").sensitive("sick").identifiers("name", "seen").satisfying(l_diversity=2).rows(),
        anonsql.InvalidStatement,
        "l_diversity",
    ),
    "no model": (lambda con, p: p.quasi("age").rows(), anonsql.InvalidStatement, "SATISFYING k_anonymity"),
    "a table without a manifest": (lambda con, p: con.verify("people"), TypeError, r'quasi=\["age", "sex"\]'),
    "a model without quasi-identifiers": (lambda con, p: con.verify("people", k_anonymity=2), TypeError, r'quasi=\["age", "sex"\]'),
    "a search in other letters": (
        lambda con, p: p.quasi("age").satisfying(k_anonymity=2).search("mondrain").rows(),
        anonsql.InvalidStatement,
        'mean "mondrian"',
    ),
}


@pytest.mark.parametrize("mistake", ASKED)
def test_what_is_asked_wrongly_says_what_to_write(con: anonsql.Connection, mistake: str) -> None:
    ask, kind, says = ASKED[mistake]
    con.register("people", frame())
    with pytest.raises(kind, match=says) as raised:
        ask(con, con.anonymize("people"))
    assert "quixotic" not in str(raised.value)


def test_infinity_is_refused_where_it_has_no_place(con: anonsql.Connection) -> None:
    con.register("x", pd.DataFrame({"age": [1.0, np.inf] * 2}))
    with pytest.raises(anonsql.DataError, match="infinity"):
        con.anonymize("x").quasi("age", using="age").satisfying(k_anonymity=2).rows()


def test_a_column_of_none_says_what_to_write(con: anonsql.Connection) -> None:
    con.register("x", pd.DataFrame({"a": [None] * 4}))
    with pytest.raises(anonsql.InvalidStatement, match="CAST"):
        con.anonymize("x").quasi("a").satisfying(k_anonymity=2).rows()


def test_names_with_spaces_and_capitals_are_names(con: anonsql.Connection) -> None:
    con.register("My people", frame()[["age"]].rename(columns={"age": "Age in years "}))
    rows = con.anonymize("My people").quasi("Age in years ", using="age").satisfying(k_anonymity=2).rows()
    assert rows.columns == ["Age in years "]


def test_what_comes_back_is_a_frame(con: anonsql.Connection) -> None:
    con.register("x", frame()[["age", "sick"]])
    back = con.sql("SELECT * FROM x").to_pandas()
    assert back["age"].tolist() == [31, 33, 36, 38] and back["sick"].tolist() == ["flu", "cold", "flu", "cold"]
