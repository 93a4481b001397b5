"""Makes the lake of the tests, with DuckDB as the writer, and what DuckDB reads in it.

In the folder of the package: python3 tests/it/ducklake/make.py
It needs pip install duckdb==1.5.5 duckdb-extension-ducklake==1.5.5 duckdb-extension-sqlite-scanner==1.5.5
"""

import glob
import importlib
import json
import os
import shutil
import sqlite3

import duckdb

LAKE = "tests/it/ducklake/lake"


def attached(catalog, options=""):
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for package, name in [("ducklake", "ducklake"), ("sqlite_scanner", "sqlite_scanner")]:
        folder = os.path.dirname(importlib.import_module(f"duckdb_extension_{package}").__file__)
        [extension] = glob.glob(f"{folder}/extensions/*/{name}.duckdb_extension")
        connection.execute(f"LOAD '{extension}'")
    connection.execute(f"ATTACH 'ducklake:sqlite:{LAKE}/{catalog}.sqlite' AS lake (DATA_PATH '{LAKE}/data/'{options})")
    connection.execute("USE lake")
    return connection


def shrunk(catalog):
    connection = sqlite3.connect(f"{LAKE}/{catalog}.sqlite")
    connection.executescript("PRAGMA page_size = 512; VACUUM")
    connection.close()


PEOPLE = "SELECT 30 + i % 20 AS age, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, 'p' || i AS name FROM range({}) t(i)"

STATEMENTS = [
    # Files, delete files, and columns that change.
    "CREATE TABLE people (age INTEGER, sex VARCHAR, name VARCHAR)",
    "INSERT INTO people " + PEOPLE.format(100),
    "DELETE FROM people WHERE age = 31 OR name = 'p2'",
    "UPDATE people SET age = 99 WHERE name = 'p4'",
    "ALTER TABLE people ADD COLUMN job VARCHAR DEFAULT 'none'",
    "ALTER TABLE people RENAME sex TO gender",
    "ALTER TABLE people ALTER age TYPE BIGINT",
    "INSERT INTO people SELECT 5000000000, 'f', 'old' || i, NULL FROM range(30) t(i)",
    "ALTER TABLE people DROP COLUMN name",
    "ALTER TABLE people ADD COLUMN name INTEGER",
    "INSERT INTO people SELECT 20 + i, 'm', 'cook', i FROM range(40) t(i)",
    # Rows in the catalog itself.
    "CALL lake.set_option('data_inlining_row_limit', 10)",
    "CREATE TABLE inlined (age INTEGER, sex VARCHAR, name VARCHAR)",
    "INSERT INTO inlined " + PEOPLE.format(9),
    "INSERT INTO inlined VALUES (77, NULL, 'it''s')",
    "DELETE FROM inlined WHERE name = 'p3'",
    "INSERT INTO inlined " + PEOPLE.format(50),
    "DELETE FROM inlined WHERE age = 32",
    "CREATE TABLE renamed (age INTEGER, zip VARCHAR)",
    "INSERT INTO renamed VALUES (31, 'a'), (32, 'b')",
    "ALTER TABLE renamed RENAME zip TO post",
    "CREATE TABLE flushed (age INTEGER, zip VARCHAR)",
    "INSERT INTO flushed VALUES (31, 'a'), (32, 'b')",
    "ALTER TABLE flushed RENAME zip TO post",
    "CALL ducklake_flush_inlined_data('lake', table_name => 'flushed')",
    "CREATE TABLE swapped (a VARCHAR, b VARCHAR)",
    "INSERT INTO swapped VALUES ('a', 'b')",
    "ALTER TABLE swapped RENAME a TO c",
    "ALTER TABLE swapped RENAME b TO a",
    "ALTER TABLE swapped RENAME c TO b",
    # Types, in the catalog and in a file.
    "CREATE TABLE typed (i INTEGER, big HUGEINT, d DECIMAL(10, 2), f DOUBLE, day DATE, t TIMESTAMP, z TIMESTAMPTZ, ok BOOLEAN, b BLOB, u UBIGINT, list INTEGER[], s STRUCT(a INTEGER, b VARCHAR))",
    "CREATE TABLE few AS SELECT i, d, f, day, t, z, ok, u FROM typed",
    "INSERT INTO few VALUES (1, 1.25, 1.5, '2026-01-31', '2026-01-31 18:00:00.123456', '2026-01-31 18:00:00+01', true, 18446744073709551615), (2, NULL, 'NaN', NULL, NULL, NULL, false, 0), (NULL, -0.01, '-inf', '1969-12-31', '1969-12-31 23:59:59.5', NULL, NULL, NULL)",
    "CALL lake.set_option('data_inlining_row_limit', 0)",
    "CREATE TABLE many AS SELECT * FROM few",
    "INSERT INTO many SELECT * FROM few",
    "INSERT INTO typed SELECT i, i, 1.25, 0.5, '2026-01-31', '2026-01-31', '2026-01-31', true, 'a'::BLOB, 1, [i, NULL], {a: i, b: 'b'} FROM range(3) t(i)",
    # Partitions, other schemas, views, and files that others wrote or merged.
    "CREATE TABLE parts (age INTEGER, sex VARCHAR)",
    "ALTER TABLE parts SET PARTITIONED BY (sex)",
    "INSERT INTO parts SELECT age, CASE WHEN age = 33 THEN NULL ELSE sex END FROM (" + PEOPLE.format(40) + ")",
    "CREATE SCHEMA hr",
    "CREATE TABLE hr.people AS SELECT 1 AS age",
    "CREATE VIEW v AS SELECT age FROM people",
    "CREATE TABLE merged (age INTEGER)",
    "INSERT INTO merged SELECT i FROM range(20) t(i)",
    "INSERT INTO merged SELECT i FROM range(20, 30) t(i)",
    "INSERT INTO merged SELECT i FROM range(30, 40) t(i)",
    "CALL ducklake_merge_adjacent_files('lake', 'merged')",
    "DELETE FROM merged WHERE age < 5",
    "CREATE TABLE added (age INTEGER, sex VARCHAR)",
    f"COPY (SELECT 'f' AS sex, i::INTEGER AS age FROM range(7) t(i)) TO '{LAKE}/data/added.parquet' (FORMAT parquet)",
    f"CALL ducklake_add_data_files('lake', 'added', '{LAKE}/data/added.parquet')",
    "CREATE TABLE emptied (age INTEGER)",
    "INSERT INTO emptied SELECT 1 FROM range(20)",
    "DELETE FROM emptied",
]

shutil.rmtree(LAKE, ignore_errors=True)
os.makedirs(f"{LAKE}/data")
lake = attached("lake", ", DATA_INLINING_ROW_LIMIT 0")
for statement in STATEMENTS:
    lake.execute(statement)

# What DuckDB reads: [table, snapshot, expression, number].
expected = []
newest = lake.execute("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')").fetchone()[0]
schema = lambda: dict(lake.execute("SELECT table_name, table_id FROM ducklake_table_info('lake')").fetchall())
numbers = {
    "people": ["count(*)", "sum(age)", "max(age)"],
    "inlined": ["count(*)", "sum(age)", "count(sex)", "min(length(name))"],
    "flushed": ["count(*)", "sum(age)"],
    "few": ["count(*)", "sum(i)", "sum(d) * 100", "count(day)", "count(t)", "count(z)", "count(u)", "count(f)"],
    "many": ["count(*)", "sum(i)", "sum(d) * 100", "count(day)", "count(t)", "count(z)", "count(u)", "count(f)"],
    "typed": ["count(*)", "sum(i)"],
    "parts": ["count(*)", "sum(age)", "count(sex)"],
    "merged": ["count(*)", "sum(age)"],
    "added": ["count(*)", "sum(age)", "count(sex)"],
    "emptied": ["count(*)"],
    "hr.people": ["count(*)", "sum(age)"],
}
for table, expressions in numbers.items():
    for snapshot in range(newest + 1):
        try:
            values = lake.execute(f"SELECT {', '.join(expressions)} FROM {table} AT (VERSION => {snapshot})").fetchone()
        except duckdb.CatalogException:
            continue
        for expression, value in zip(expressions, values):
            expected.append([table, snapshot, expression, None if value is None else float(value)])
with open(f"{LAKE}/expected.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(row) for row in expected) + "\n]\n")
lake.close()
shrunk("lake")

# The same lake without its first snapshots.
shutil.copy(f"{LAKE}/lake.sqlite", f"{LAKE}/expired.sqlite")
lake = attached("expired")
lake.execute(f"CALL ducklake_expire_snapshots('lake', versions => {list(range(1, newest - 2))})")
lake.close()
shrunk("expired")

lake = attached("encrypted", ", ENCRYPTED")
lake.execute("SET force_mbedtls_unsafe = true")
lake.execute("CREATE TABLE people AS " + PEOPLE.format(20))
lake.close()
shrunk("encrypted")
