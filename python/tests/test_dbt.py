"""Tests of the dbt project: it builds, and its tests find a planted violation."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import anonsql
import anonsql.dbt

ROOT = Path(__file__).parent.parent.parent
try:
    HAS_DBT = importlib.util.find_spec("dbt.adapters.duckdb") is not None
except ModuleNotFoundError:
    HAS_DBT = False
needs_dbt = pytest.mark.skipif(not HAS_DBT, reason="dbt-duckdb is not installed")


class Project:
    """A copy of the project, which writes to its own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "dbt"
        shutil.copytree(ROOT / "examples" / "dbt", self.folder)
        self.models = self.folder / "models"
        self.run("deps")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "ANONSQL_DBT": anonsql.dbt.package(),
            "DATA": str(ROOT / "data"),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        }
        run = [sys.executable, "-m", "dbt.cli.main", "--no-use-colors", *arguments, "--profiles-dir", "."]
        return subprocess.run(
            run, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    def results(self) -> dict[str, str]:
        """Return the status of each model and test of the last run, by name."""
        ran = json.loads((self.folder / "target" / "run_results.json").read_text())["results"]
        return {result["unique_id"].split(".")[2]: result["status"] for result in ran}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("people"))


@needs_dbt
def test_the_project_builds(project: Project) -> None:
    done = project.run("build")
    assert done.returncode == 0, done.stdout + done.stderr
    results = project.results()
    assert len(results) == 6 and set(results.values()) == {"success", "pass"}, results
    verification = anonsql.connect(threads=1).verify(project.folder / "out" / "people_k5")
    assert verification.raise_for_failure()
    # dbt leaves no file with rows of the source behind.
    for file in (project.folder / "target").rglob("*"):
        assert not file.is_file() or b"PAR1" not in file.read_bytes()[:4]


@needs_dbt
def test_a_planted_violation_fails(project: Project) -> None:
    (project.models / "planted.sql").write_text(
        "select age, zip, sex, occupation from {{ ref('people_k5') }} union all\n"
        "select 'quixotic', '00000', 'x', 'windmill' union all select null, null, null, null"
    )
    (project.models / "raw.sql").write_text("select * from read_parquet('{{ env_var(\"DATA\") }}/census.parquet')")
    tests = "      - anonsql.k_anonymity: {{quasi: [age, zip, sex], k: {k}}}\n"
    tests += "      - anonsql.l_diversity: {{quasi: [age, zip, sex], sensitive: occupation, l: {l}}}\n"
    models = "".join(
        f"  - name: {name}\n    data_tests:\n{tests.format(k=k, l=l)}" for name, k, l in [("planted", 5, 3), ("raw", 2, 2)]
    )
    (project.models / "planted.yml").write_text(f"models:\n{models}")
    done = project.run("build")
    for planted in ("planted.sql", "planted.yml", "raw.sql"):
        (project.models / planted).unlink()
    assert done.returncode == 1, done.stdout + done.stderr
    results = project.results()
    failed = sorted(name.split("__age")[0] for name, status in results.items() if status == "fail")
    assert failed == [
        "anonsql_k_anonymity_planted_5",
        "anonsql_k_anonymity_raw_2",
        "anonsql_l_diversity_planted_3",
        "anonsql_l_diversity_raw_2",
    ], results
    assert "Got 2 results" in done.stdout and "quixotic" not in done.stdout and "windmill" not in done.stdout


@needs_dbt
def test_a_source_that_is_a_release(project: Project) -> None:
    (project.models / "again.sql").write_text("select count(*) as n from {{ source('elsewhere', 'people') }}")
    (project.models / "again.yml").write_text(
        "sources:\n  - name: elsewhere\n    meta: {plugin: anonsql, release: out/people_k5}\n    tables: [{name: people}]\n"
    )
    done = project.run("build", "--select", "again")
    manifest = project.folder / "out" / "people_k5" / "_manifest.json"
    written = manifest.read_text()
    manifest.write_text(written.replace('"rows_out":', '"rows_in_all":'))
    changed = project.run("build", "--select", "again")
    manifest.write_text(written)
    for name in ("again.sql", "again.yml"):
        (project.models / name).unlink()
    assert done.returncode == 0, done.stdout
    assert changed.returncode != 0, changed.stdout


@needs_dbt
def test_what_has_no_release_fails_and_leaves_the_last_one(project: Project) -> None:
    release = project.folder / "out" / "people_k5" / "_manifest.json"
    before = release.read_bytes()
    model = project.models / "people_k5.sql"
    written = model.read_text()
    try:
        model.write_text(written.replace("k_anonymity(5)", "k_anonymity(40000)"))
        done = project.run("build")
        assert done.returncode == 1 and "cannot hold" in done.stdout, done.stdout
        assert project.results()["people_k5"] == "error" and project.results()["ages"] == "skipped"
        model.write_text(written.replace("anonymize=", "anonymise="))
        assert "write config(" in project.run("build").stdout
    finally:
        model.write_text(written)
    assert release.read_bytes() == before


class Cursor:
    """A cursor that returns the same rows for every query."""

    def __init__(self, rows: object) -> None:
        self.rows = rows

    def sql(self, text: str) -> object:
        assert text == 'SELECT * FROM "private"'
        return self.rows


def plugin(**config: Any) -> Any:
    made = object.__new__(anonsql.dbt.Plugin)
    made.initialize(config)
    return made


def test_a_profile_finds_the_plugin() -> None:
    assert anonsql.Plugin is anonsql.dbt.Plugin
    with pytest.raises(AttributeError, match="Plugins"):
        anonsql.Plugins  # noqa: B018
    assert (Path(anonsql.dbt.package()) / "dbt_project.yml").exists()


def test_a_model_is_stored_and_a_release_is_loaded(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "init.sql").write_text("CREATE HIERARCHY age AS INTERVALS (5, 10);")
    made = plugin(init=str(tmp_path / "init.sql"), threads=1, memory_limit="1GB")
    made.configure_cursor(Cursor(pa.table({"name": list("abcdef"), "age": [31, 32, 33, 34, 33, 31]})))
    config = {"anonymize": "IDENTIFIERS (name) QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(5)"}
    location = SimpleNamespace(path=str(tmp_path / "it's"))

    class Relation:
        identifier = "people"

        def __str__(self) -> str:
            return '"private"'

    target = SimpleNamespace(relation=Relation(), config=config, location=location)
    made.store(target)
    made.store(target)
    source = SimpleNamespace(identifier="people", get=lambda key: {"release": location.path}.get(key))
    assert made.load(source).to_pylist() == [{"age": "30-34"}] * 6
    for clauses, match in [(None, "has no request"), (config["anonymize"] + "; SELECT 1", "one statement")]:
        target.config = {"anonymize": clauses}
        with pytest.raises(ValueError, match=match):
            made.store(target)
    with pytest.raises(ValueError, match="meta"):
        made.load(SimpleNamespace(identifier="people", get=lambda key: None))
    # A release that was changed is not returned.
    manifest = Path(location.path) / "_manifest.json"
    manifest.write_text(manifest.read_text().replace('"rows_out": 6', '"rows_out": 7'))
    with pytest.raises(anonsql.Error):
        made.load(source)
