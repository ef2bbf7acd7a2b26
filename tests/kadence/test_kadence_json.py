# SPDX-License-Identifier: GPL-2.0-or-later
"""--json: one document, and nothing else, from each verb that prints."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.manual.commands import commands

Run = Callable[..., "subprocess.CompletedProcess[str]"]
# They print nothing of their own, or a script.
WITHOUT = {"kadence run", "kadence live install", "kadence live remove", "kadence completion"}


def test_each_command_that_prints_has_json() -> None:
    without = {
        command.name
        for command in commands()
        if not any("--json" in option.names for option in command.options)
    }
    assert without - {"kadence kernel show"} == WITHOUT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, kadence: Run) -> Path:
    """A profile of a small program."""
    place = tmp_path_factory.mktemp("json")
    kadence("profile", "-o", place / "P.kprof", "--", "seq", "20000", cwd=place, check=True)
    kadence("phases", "P.kprof", "-o", "P.phases.json", cwd=place, check=True)
    return place


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("phases P.kprof -o Q.phases.json", "phases"),
        ("plan P.phases.json -o P.plan.json", "markers"),
        ("compare P.kprof P.kprof -o P.compare.json", "verdict"),
        ("profile show P.kprof", "interval"),
        ("profile export --simpoint P.kprof -o P.bb", "intervals"),
        ("view P.phases.json -o P.html --no-open", "page"),
        ("key -o key", "public"),
        ("kernel list", None),
        ("kernel gc", "removed"),
        ("live list", None),
        ("live status", None),
    ],
)
def test_output_is_one_document(
    kadence: Run, folder: Path, words: str, key: str | None, tmp_path: Path
) -> None:
    environment = {"PATH": "/usr/bin:/bin", "KADENCE_CACHE": str(tmp_path), "HOME": str(tmp_path)}
    ran = kadence(*words.split(), "--json", cwd=folder, env=environment)
    assert ran.returncode == 0, ran.stderr
    document: Any = json.loads(ran.stdout)
    assert key is None or key in document


def test_doctor_tells_each_finding(kadence: Run) -> None:
    ran = kadence("doctor", "--no-build", "--json")
    findings = json.loads(ran.stdout)
    assert {"subject", "why", "present", "remedy"} <= set(findings[0])
    assert ran.returncode == int(any(not finding["present"] for finding in findings))
