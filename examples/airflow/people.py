"""What the DAG runs: a release of people, without Airflow in it. Its answer has figures, and no row."""

from __future__ import annotations

import anonsql


def request(con: anonsql.Connection, source: str) -> anonsql.Anonymize:
    """Return the request: what is released of whom, and how alike people have to be."""
    con.hierarchy("age", intervals=[5, 10, 20], top_code=90)
    con.hierarchy("zip", prefix=[4, 3, 2])
    return (
        con.anonymize(anonsql.query(f"SELECT name, age, zip, sex, occupation FROM {anonsql.path(source)}"))
        .identifiers("name")
        .quasi("age", using="age")
        .quasi("zip", using="zip")
        .quasi("sex")
        .sensitive("occupation")
        .satisfying(k_anonymity=5, l_diversity=(3, "occupation"))
        .suppress("1%")
        .search("mondrian")
    )


def release(source: str, target: str) -> dict[str, int | str | None]:
    """Release a table to a folder in the place of the last release, and check it."""
    con = anonsql.connect(memory_limit="2GB")
    released = request(con, source).to(target, if_exists="overwrite")
    con.verify(released).raise_for_failure()
    return {"k": released.k, "rows": released.rows, "suppressed": released.suppressed, "manifest": released.manifest}
