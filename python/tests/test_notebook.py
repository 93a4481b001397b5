"""Tests that the notebook runs, and that its outputs equal the saved outputs.

``ANONSQL_WRITE=1 pytest tests/test_notebook.py`` saves the new outputs.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).parent.parent.parent
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"


def executed(folder: Path) -> Any:
    """Return the notebook, executed in a folder of its own."""
    shutil.copytree(ROOT / "data", folder / "data")
    (folder / "examples").mkdir()
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(folder / "examples")}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    for cell in notebook.cells:
        # The metadata has the time of the run, which differs each time.
        cell.metadata = {}
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def shown(notebook: Any) -> list[str]:
    """Return the texts and the tables of anonsql that a notebook shows."""
    texts: list[str] = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type in ("execute_result", "stream"), output
            assert output.get("name") != "stderr", output.text
            html = output.get("data", {}).get("text/html", "")
            texts.append(output.get("text", "") + (html if html.startswith("<table>") else ""))
    return texts


def test_the_notebook_runs_and_says_what_it_shows(tmp_path: Path) -> None:
    notebook = executed(tmp_path)
    if os.environ.get("ANONSQL_WRITE"):
        nbformat.write(notebook, NOTEBOOK)
    assert shown(notebook) == shown(nbformat.read(NOTEBOOK, as_version=4))
    assert (tmp_path / "out" / "notebook" / "census" / "_manifest.json").exists()


def test_the_notebook_has_no_path_of_a_machine_and_no_person() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not [path for path in ("/tmp", "/home", "/root", "/Users", "ipykernel_") if path in text]
    parquet = pytest.importorskip("pyarrow.parquet")
    people = parquet.read_table(ROOT / "data" / "census.parquet", columns=["name", "ssn"]).to_pydict()
    for values in people.values():
        assert not [value for value in values if str(value) in text]
