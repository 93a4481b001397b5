"""Tests of the texts for assistants: the recipes run in order and print no value of a person, and every page exists."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import anonsql

ROOT = Path(__file__).parent.parent.parent
SKILL = ROOT / "examples" / "assistants" / "SKILL.md"
LLMS = ROOT / "docs" / "src" / "llms.txt"


def test_the_recipes_run_and_print_no_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    text = SKILL.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5 and re.match(r"---\nname: anonsql\ndescription: [^\n]+\n---\n", text)
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(SKILL), "exec"), names)  # noqa: S102
    said = capsys.readouterr().out
    assert "rows would have to be suppressed" in said and "k_anonymity(5)" in said
    people = parquet.read_table(ROOT / "data" / "census.parquet").to_pydict()
    for column in ("name", "ssn", "occupation", "education", "race", "native_country"):
        words = {str(value) for value in people[column] if value is not None}
        assert not [word for word in words if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", said)], column


def test_every_page_is_there() -> None:
    pages = re.findall(r"\]\(([^)]+)\.html\)", LLMS.read_text(encoding="utf-8"))
    assert len(pages) >= 10
    assert not [page for page in pages if not (LLMS.parent / f"{page}.md").exists()]


def test_the_statements_of_llms_txt_are_statements() -> None:
    con = anonsql.connect(threads=1)
    statements = re.findall(r"`((?:SUGGEST|RISK|ANONYMIZE|VERIFY) [^`]+)`", LLMS.read_text(encoding="utf-8"))
    assert len(statements) == 4
    for statement in statements:
        assert con._printed(statement)
