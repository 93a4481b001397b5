"""Tests of tables of other packages, registered and returned."""

from __future__ import annotations

from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import anonsql

pa = pytest.importorskip("pyarrow")


def columns() -> dict[str, Any]:
    return {
        "age": [31, 33, None, 38],
        "name": ["Ann", "Bob", None, "Zoë"],
        "income": [1.5, None, -0.0, 2.0],
        "born": [date(1990, 1, 31), None, date(2000, 2, 29), date(1970, 1, 1)],
        "seen": [datetime(2020, 1, 1, 12, tzinfo=timezone.utc)] * 3 + [None],
        "items": [["a", "b"], [], None, ["c"]],
        "flag": [True, False, None, True],
    }


def test_arrow_goes_in_and_out(con: anonsql.Connection) -> None:
    table = pa.table(columns())
    held = con.register("t", table)
    assert held == anonsql.Registered("t", 4, tuple(columns()), "shared")
    assert con.sql("SELECT * FROM t").to_arrow().cast(table.schema).equals(table)
    assert con.sql("SELECT * FROM t").to_arrow().to_pylist() == table.to_pylist()
    assert con.register("t", table.slice(1, 2)).rows == 2 and len(con.sql("SELECT * FROM t")) == 2
    batch = pa.record_batch({"a": [1, 2]})
    assert con.register("b", batch).rows == 2
    assert con.register("none", table.slice(0, 0)).rows == 0 and len(con.sql("SELECT * FROM none")) == 0
    assert con.unregister("t") and not con.unregister("t")
    with pytest.raises(anonsql.InvalidStatement):
        con.sql("SELECT * FROM t")


def test_a_table_of_many_batches_is_whole(con: anonsql.Connection) -> None:
    table = pa.concat_tables([pa.table({"n": list(range(i, i + 10_000))}) for i in range(0, 100_000, 10_000)])
    con.register("n", table)
    sums = con.sql("SELECT count(*) AS n, sum(n) AS s, count(distinct n) AS d FROM n").to_arrow().to_pylist()
    assert sums == [{"n": 100_000, "s": sum(range(100_000)), "d": 100_000}]


def test_an_array_interface_is_enough(con: anonsql.Connection) -> None:
    class Offers:
        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return pa.record_batch({"a": [1, None]}).__arrow_c_array__()

    assert con.register("a", Offers()).held == "read"
    assert con.sql("SELECT a FROM a").to_arrow().to_pylist() == [{"a": 1}, {"a": None}]


def test_a_stream_is_read_once(con: anonsql.Connection, tmp_path: Path) -> None:
    reader = pa.table({"age": [30 + i % 10 for i in range(100)], "city": ["a", "b"] * 50}).to_reader(max_chunksize=7)
    assert con.register("s", reader).held == "read"
    release = con.anonymize("s").quasi("age", using="age").keep("city").satisfying(k_anonymity=5).to(tmp_path / "out")
    assert release.rows == 100


def test_a_stream_that_breaks_says_no_value(con: anonsql.Connection) -> None:
    def batches() -> Any:
        yield pa.record_batch({"a": ["x"]})
        raise ValueError("quixotic")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.string()}), batches())
    with pytest.raises(anonsql.DataError) as raised:
        con.register("s", reader)
    assert "quixotic" not in str(raised.value)


def test_memory_of_streams_counts(tmp_path: Path) -> None:
    con = anonsql.connect(memory_limit="150MB", threads=1, temp_dir=tmp_path)
    table = pa.table({"n": pa.array(range(10_000_000), pa.int64())})
    with pytest.raises(anonsql.Exhausted):
        con.register("n", table.to_reader())
    assert con.register("n", table).held == "shared"


def test_unused_categories_never_leave(con: anonsql.Connection, tmp_path: Path) -> None:
    city = pa.DictionaryArray.from_arrays([0, 0, 1, 1], ["north", "south", "quixotic"])
    con.register("d", pa.table({"age": [31, 31, 38, 38], "city": city}))
    out = con.sql("SELECT * FROM d").to_arrow()
    assert "quixotic" not in str(out.column("city").chunk(0).dictionary)
    request = con.anonymize("d").quasi("age").keep("city").satisfying(k_anonymity=2)
    for chunk in request.rows().to_arrow().column("city").chunks:
        assert "quixotic" not in str(getattr(chunk, "dictionary", chunk))
    release = request.to(tmp_path / "out")
    for file in Path(release).iterdir():
        assert b"quixotic" not in file.read_bytes()


def test_polars(con: anonsql.Connection) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(columns())
    assert con.register("p", frame).held == "shared"
    assert con.sql("SELECT * FROM p").to_polars().equals(frame)
    assert con.register("lazy", frame.lazy()).rows == 4
    categories = frame.select(pl.col("name").cast(pl.Categorical))
    con.register("c", categories)
    assert con.sql("SELECT name FROM c").to_polars()["name"].cast(pl.String).to_list() == columns()["name"]
    with pytest.raises(TypeError, match="to_frame"):
        con.register("s", frame["age"])


def test_polars_in_chunks(con: anonsql.Connection) -> None:
    pl = pytest.importorskip("polars")
    parts = [pl.DataFrame({"n": range(i, i + 70_000), "c": ["a", str(i)] * 35_000}) for i in range(0, 210_000, 70_000)]
    frame = pl.concat(parts, rechunk=False).with_columns(pl.col("c").cast(pl.Categorical).alias("k"))
    # One column has one chunk, and the others have three.
    frame = frame.with_columns(pl.Series("one", range(210_000)))
    assert frame.n_chunks("all") == [3, 3, 3, 1]
    assert con.register("p", frame) == anonsql.Registered("p", 210_000, ("n", "c", "k", "one"), "shared")
    back = con.sql("SELECT * FROM p ORDER BY n").to_polars()
    assert back.with_columns(pl.col("k").cast(pl.Categorical)).equals(frame)
    small = pl.concat([pl.DataFrame({"n": [i, -i]}) for i in range(50)], rechunk=False)
    assert con.register("s", small).rows == 100 and con.sql("SELECT * FROM s").to_polars().equals(small)
    assert con.register("none", frame.clear()).rows == 0 and con.sql("SELECT * FROM none").to_polars().columns == frame.columns


def test_polars_without_a_type(con: anonsql.Connection) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"age": [30] * 4, "none": [None] * 4, "inside": [[None], [], None, [None]], "s": [{"x": None}] * 4})
    assert con.register("n", frame).held == "shared"
    counts = con.sql("SELECT count(none) AS a, count(inside) AS b, count(*) AS c FROM n").to_arrow().to_pylist()
    assert counts == [{"a": 0, "b": 3, "c": 4}]
    rows = con.anonymize("n").quasi("age").keep("none").identifiers("inside", "s").satisfying(k_anonymity=2).rows()
    assert rows.to_polars()["none"].to_list() == [None] * 4
    con.register("a", pl.DataFrame({"a": pl.Series([[[None, None]]], dtype=pl.Array(pl.Null, (1, 2)))}))
    assert con.sql("SELECT * FROM a").to_arrow().to_pylist() == [{"a": [[None, None]]}]


def test_objects_of_polars_are_refused(con: anonsql.Connection) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"age": [1, 2], "b": pl.Series(["quixotic", 1], dtype=pl.Object)})
    for table in (frame, frame.lazy()):
        with pytest.raises(anonsql.DataError, match="column 'b' .* write frame") as raised:
            con.register("o", table)
        assert "quixotic" not in str(raised.value)
    # The repair that the message says to write works.
    frame = frame.with_columns(pl.Series("b", [str(value) for value in frame["b"]]))
    assert con.register("o", frame).rows == 2
    assert con.sql("SELECT b FROM o").to_polars()["b"].to_list() == ["quixotic", "1"]


def test_duckdb(con: anonsql.Connection) -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("SELECT range AS n, 'x' || range AS t FROM range(10000)")
    assert con.register("d", relation).rows == 10_000
    assert con.sql("SELECT sum(n) AS s FROM d").to_arrow().to_pylist() == [{"s": sum(range(10_000))}]
    rows = con.sql("SELECT n FROM d WHERE n < 5").to_arrow()
    assert duckdb.sql("SELECT sum(n) FROM rows").fetchall() == [(10,)]


def test_pandas(con: anonsql.Connection) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(columns())
    assert con.register("p", frame).rows == 4
    assert con.sql("SELECT * FROM p").to_arrow().to_pylist()[3]["items"] == ["c"]
    assert con.sql("SELECT count(income) AS n FROM p").to_pandas()["n"].tolist() == [3], "a NaN of pandas is NULL"
    filtered = frame[frame["age"] > 31]
    assert con.register("f", filtered).columns == tuple(columns()), "the row numbers are not a column"
    city = pd.Categorical(["north", "south"], categories=["north", "south", "quixotic"])
    con.register("c", pd.DataFrame({"city": city}))
    assert "quixotic" not in str(con.sql("SELECT * FROM c").to_arrow().column("city").chunk(0).dictionary)


def test_a_repeated_name_is_the_new_table(con: anonsql.Connection) -> None:
    con.register("t", pa.table({"a": [1]}))
    con.register("t", pa.table({"b": [1, 2]}))
    assert con.sql("SELECT * FROM t").columns == ["b"]
    with pytest.raises(anonsql.DataError):
        con.register("t", pa.table([[1], [2]], names=["c", "c"]))
    assert con.sql("SELECT * FROM t").columns == ["b"], "a failed register changes nothing"
    con.register("My Table", pa.table({"a": [1]}))
    assert len(con.sql('SELECT * FROM "My Table"')) == 1


def test_metadata_of_a_nested_field_stays_outside(con: anonsql.Connection) -> None:
    field = pa.field("q", pa.string(), metadata={"K": "SECRETMETA"})
    rows = pa.array([{"q": "a"}] * 6, pa.struct([field]))
    con.register("t", pa.table({"age": [30] * 6, "kept": rows}))
    schema = con.anonymize("t").quasi("age").keep("kept").satisfying(k_anonymity=3).rows().to_arrow().schema
    assert "SECRETMETA" not in schema.to_string()


def test_texts_that_are_none_are_refused(con: anonsql.Connection) -> None:
    texts = pa.array([b"\xff\xfe", b"\xc3\xc3"]).view(pa.string())
    with pytest.raises(anonsql.DataError, match="UTF-8"):
        con.register("t", pa.table({"a": texts}))
    codes = pa.DictionaryArray.from_arrays(pa.array([5]), pa.array(["x"]), safe=False)
    with pytest.raises(anonsql.DataError, match="not valid for its type"):
        con.register("t", pa.table({"a": codes}))


def test_a_comment_of_a_query_ends_with_it(con: anonsql.Connection) -> None:
    con.register("t", pa.table({"age": [30] * 6}))
    harmless = con.anonymize(anonsql.query("SELECT age FROM t -- all;")).quasi("age").satisfying(k_anonymity=3)
    assert harmless.rows().to_arrow().num_rows == 6
    text = "SELECT age FROM t) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(1) --"
    with pytest.raises(anonsql.InvalidStatement):
        con.anonymize(anonsql.query(text)).quasi("age").satisfying(k_anonymity=5).rows()


def test_a_text_is_no_list_of_names(con: anonsql.Connection) -> None:
    con.register("t", pa.table({"a": [1] * 6, "b": [1] * 6}))
    with pytest.raises(TypeError, match="names are a list"):
        con.anonymize("t").quasi("a", "b").satisfying(k_anonymity=2).to("nowhere", partitioned_by="ab")
