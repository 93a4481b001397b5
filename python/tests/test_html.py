"""Tests of the HTML for notebooks: it has figures, escapes everything, and has no row of a table."""

from __future__ import annotations

import base64
import html
import html.parser
from pathlib import Path

import pytest

import anonsql


class Elements(html.parser.HTMLParser):
    """A parser that collects the elements of a text, and checks that each is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def elements(text: str) -> set[str]:
    parser = Elements()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser.seen


def test_a_release_shows_its_figures(con: anonsql.Connection, request_: anonsql.Anonymize, tmp_path: Path) -> None:
    release = request_.satisfying(l_diversity=(3, "diagnosis")).to(tmp_path / "a <b> & 'c'")
    shown = release._repr_html_()
    assert elements(shown) <= {"table", "thead", "tbody", "tr", "th", "td"}
    assert "a &lt;b&gt; &amp; &#x27;c&#x27;" in shown and "<b>" not in shown
    for said in ["k_anonymity(5)", "l_diversity(3) ON diagnosis", "holds", f">{release.classes}<", "suppressed rows"]:
        assert said in shown
    rows = request_.rows()
    shown = rows._repr_html_() or ""
    assert "k_anonymity(5)" in shown and "asthma" not in shown, "no label and no value"


def test_a_release_shows_its_report(con: anonsql.Connection, request_: anonsql.Anonymize, tmp_path: Path) -> None:
    page = tmp_path / "people.html"
    release = request_.report(page).to(tmp_path / "out")
    assert release.report == str(page)
    shown = release._repr_html_()
    assert elements(shown) == {"table", "thead", "tbody", "tr", "th", "td", "iframe"}
    assert f'srcdoc="{html.escape(page.read_text(encoding="utf-8"))}"' in shown and 'sandbox="allow-same-origin"' in shown
    page.unlink()
    assert "iframe" not in release._repr_html_(), "the report no longer exists"
    text = request_.report(tmp_path / "people.md").to(tmp_path / "other")
    assert "iframe" not in text._repr_html_()


def test_a_column_is_escaped(con: anonsql.Connection) -> None:
    con.sql("CREATE TABLE odd AS SELECT age AS \"<script>alert(1)</script>\", age AS \"<i>\" FROM people")
    request = con.anonymize("odd").quasi("<script>alert(1)</script>").sensitive("<i>")
    release = request.satisfying(k_anonymity=1, l_diversity=(1, "<i>")).rows().release
    assert release is not None
    shown = release._repr_html_()
    assert elements(shown) <= {"table", "thead", "tbody", "tr", "th", "td"}
    assert "l_diversity(1) ON" in shown and "&lt;i&gt;" in shown


def test_rows_of_a_table_are_not_shown(con: anonsql.Connection) -> None:
    assert con.sql("SELECT * FROM people")._repr_html_() is None
    assert "name 1" not in repr(con.sql("SELECT * FROM people"))
    assert con.risk("people", quasi=["age"], per_row=True)._repr_html_() is None


def test_a_risk_shows_three_attackers(con: anonsql.Connection) -> None:
    pytest.importorskip("pyarrow")
    shown = con.risk("people", quasi=["age", "sex"])._repr_html_() or ""
    assert elements(shown) <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert all(attacker in shown for attacker in ("prosecutor", "journalist", "marketer")) and "histogram" not in shown


def test_a_front_shows_its_picture(con: anonsql.Connection, request_: anonsql.Anonymize, tmp_path: Path) -> None:
    for front in (
        request_.pareto_front("max k", "min glm"),
        request_.pareto_front("max k", "min glm", picture=tmp_path / "front.svg"),
    ):
        shown = front._repr_html_() or ""
        assert elements(shown) == {"img"}
        assert base64.b64decode(shown.split("base64,")[1].split('"')[0]).startswith(b"<svg")
    assert [file.name for file in tmp_path.iterdir()] == ["front.svg"]
    assert request_.pareto_front("max k")._repr_html_() is None


def test_a_verification_shows_what_it_could_not_check(con: anonsql.Connection) -> None:
    verification = con.verify("people", quasi=["age", "sex"], k_anonymity=50)
    shown = verification._repr_html_()
    assert "does not hold" in shown and all(what.split("(")[0] in shown for what in verification.unchecked)
