"""Tests that the stubs match the native module, and that the types are right, if mypy is installed."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
HAS_MYPY = importlib.util.find_spec("mypy") is not None


@pytest.mark.skipif(not HAS_MYPY, reason="mypy is not installed")
@pytest.mark.parametrize(
    "check",
    [
        ["mypy", "--package", "anonsql", "--config-file"],
        ["mypy.stubtest", "anonsql._anonsql", "--ignore-disjoint-bases", "--mypy-config-file"],
    ],
    ids=["mypy", "stubtest"],
)
def test_types(check: list[str], tmp_path: Path) -> None:
    # Runs in another folder, so that mypy checks the installed package.
    run = [sys.executable, "-m", *check, str(PROJECT / "pyproject.toml")]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not HAS_MYPY, reason="mypy is not installed")
def test_types_of_the_examples(tmp_path: Path) -> None:
    examples = PROJECT.parent / "examples"
    files = [examples / "airflow" / "people.py", examples / "airflow" / "dag.py", examples / "dagster" / "assets.py"]
    # Readers copy code from the notebook and the recipes, so it must have the right types.
    notebook = json.loads((examples / "notebook.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    skill = (examples / "assistants" / "SKILL.md").read_text(encoding="utf-8")
    recipes = re.findall(r"^```python\n(.*?)^```", skill, re.DOTALL | re.MULTILINE)
    for name, blocks in (("notebook", cells), ("skill", recipes)):
        files.append(tmp_path / f"{name}.py")
        files[-1].write_text("\n\n".join(blocks), encoding="utf-8")
    # Airflow and Dagster may be missing, and the functions that they decorate are then untyped.
    lenient = ["--ignore-missing-imports", "--allow-untyped-decorators"]
    run = [sys.executable, "-m", "mypy", "--strict", *lenient, *map(str, files)]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
