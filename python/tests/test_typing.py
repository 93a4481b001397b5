"""The stubs are those of the native module, and what is typed is right, where mypy is there."""

from __future__ import annotations

import importlib.util
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
    # Elsewhere, so that what is installed is looked at.
    run = [sys.executable, "-m", *check, str(PROJECT / "pyproject.toml")]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
