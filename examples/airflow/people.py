"""The release that the DAG runs, in code that does not use Airflow. It returns figures, and no rows."""

from __future__ import annotations

import anonsql


def request(con: anonsql.Connection, source: str) -> anonsql.Anonymize:
    """Return the request: the columns with their roles, and the privacy models."""
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
    """Release a table to a folder, replacing the last release, and check the new release."""
    con = anonsql.connect(memory_limit="2GB")
    released = request(con, source).to(target, if_exists="overwrite")
    con.verify(released).raise_for_failure()
    return {"k": released.k, "rows": released.rows, "suppressed": released.suppressed, "manifest": released.manifest}
