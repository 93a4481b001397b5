"""Tests of the book's page about Python: its blocks run in order."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def test_the_blocks_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    text = (ROOT / "docs" / "src" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 5
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/src/python.md", "exec"), names)  # noqa: S102


def test_what_is_said_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    import anonsql

    con = anonsql.connect(threads=1)
    request = con.anonymize("people").quasi("age", using="age").quasi("Zip code").satisfying(k_anonymity=5)
    assert f"# {request}\n" in (ROOT / "docs" / "src" / "python.md").read_text(encoding="utf-8")
