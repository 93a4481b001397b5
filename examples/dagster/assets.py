"""A release as an asset of Dagster: dagster dev -f examples/dagster/assets.py

Its metadata has the figures of the release, and its check is a VERIFY of everything that the manifest promises.
"""

from __future__ import annotations

import os

import dagster

import anonsql

QUASI = ["age", "zip", "sex"]


@dagster.asset(retry_policy=dagster.RetryPolicy(max_retries=2, delay=600))
def people_k5() -> "dagster.MaterializeResult[None]":
    """A table of people, in which each person looks like at least four others."""
    con = anonsql.connect(memory_limit="2GB")
    con.hierarchy("age", intervals=[5, 10, 20], top_code=90)
    con.hierarchy("zip", prefix=[4, 3, 2])
    people = anonsql.query(f"SELECT name, age, zip, sex, occupation FROM {anonsql.path(os.environ['PEOPLE'])}")
    request = con.anonymize(people).identifiers("name").quasi("age", using="age").quasi("zip", using="zip").quasi("sex")
    request = request.sensitive("occupation").satisfying(k_anonymity=5).suppress("1%").search("mondrian")
    try:
        release = request.to(os.environ["PEOPLE_K5"], if_exists="overwrite")
    except anonsql.Unavailable:
        # A retry may succeed.
        raise
    except anonsql.Error as error:
        raise dagster.Failure(description=str(error), allow_retries=False) from error
    figures = {"k": release.k, "rows": release.rows, "suppressed": release.suppressed, "classes": release.classes}
    return dagster.MaterializeResult(metadata={**figures, "manifest": release.manifest})


@dagster.asset_check(asset=people_k5)
def holds_what_it_promises() -> dagster.AssetCheckResult:
    """Recounts everything that the manifest promises."""
    verification = anonsql.connect().verify(anonsql.path(os.environ["PEOPLE_K5"]))
    return dagster.AssetCheckResult(passed=verification.holds, metadata={"failed": list(verification.failed)})


defs = dagster.Definitions(assets=[people_k5], asset_checks=[holds_what_it_promises])
