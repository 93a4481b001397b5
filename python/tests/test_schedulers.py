"""Tests of the examples for schedulers. Their files are imported if the packages are installed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anonsql

ROOT = Path(__file__).parent.parent.parent
CENSUS = ROOT / "data" / "census.parquet"


def loaded(path: str) -> Any:
    """Import a file of the examples."""
    name = "example_" + Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / path)
    assert spec is not None and spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_what_the_dag_runs(tmp_path: Path) -> None:
    people = loaded("airflow/people.py")
    for _ in range(2):
        figures = people.release(str(CENSUS), str(tmp_path / "out"))
    assert figures["k"] >= 5 and figures["rows"] + figures["suppressed"] == 30_000
    assert figures["manifest"] == str(tmp_path / "out" / "_manifest.json")
    # The error reaches the DAG, which decides whether to retry.
    with pytest.raises(anonsql.FileError):
        people.release(str(tmp_path / "nothing.parquet"), str(tmp_path / "out"))
    anonsql.connect(threads=1).verify(tmp_path / "out").raise_for_failure()


def test_the_dag_is_imported() -> None:
    pytest.importorskip("airflow.sdk")
    assert loaded("airflow/dag.py").people_k5.__name__ == "people_k5"


def test_the_asset_is_made_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dagster = pytest.importorskip("dagster")
    monkeypatch.setenv("PEOPLE", str(CENSUS))
    monkeypatch.setenv("PEOPLE_K5", str(tmp_path / "out"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    assets = loaded("dagster/assets.py")
    result = dagster.materialize([assets.people_k5, assets.holds_what_it_promises])
    assert result.success and all(check.passed for check in result.get_asset_check_evaluations())
    (made,) = result.asset_materializations_for_node("people_k5")
    assert made.metadata["k"].value >= 5
    monkeypatch.setenv("PEOPLE", str(tmp_path / "nothing.parquet"))
    assert not dagster.materialize([assets.people_k5], raise_on_error=False).success
