"""Fixtures of the tests: a session with invented people, and a request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import anonsql

PEOPLE = """
CREATE TABLE people AS SELECT
    'name ' || value AS name, 20 + value % 40 AS age, CASE value % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex,
    CASE value % 4 WHEN 0 THEN 'flu' WHEN 1 THEN 'cold' WHEN 2 THEN 'asthma' ELSE 'cough' END AS diagnosis
FROM range(0, 200)
"""


@pytest.fixture
def con() -> Iterator[anonsql.Connection]:
    """A session with the table ``people`` and the hierarchy ``age``."""
    con = anonsql.connect(threads=2)
    con.sql(PEOPLE)
    con.hierarchy("age", intervals=[5, 10, 20], top_code=90)
    yield con


@pytest.fixture
def request_(con: anonsql.Connection) -> anonsql.Anonymize:
    """A request with k = 5 that has a release."""
    people = con.anonymize("people").identifiers("name").quasi("age", using="age").quasi("sex")
    return people.sensitive("diagnosis").satisfying(k_anonymity=5)
