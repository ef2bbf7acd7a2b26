# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile from another tool, from the import to the plan: it claims nothing that it lacks."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from kadence.profiler import kprof
from kadence.profiler.format.profile import KBBV

STAGES = ("phases", "plan")
TEXT = "T:1:900 :2:100\n" * 20 + "T:3:700 :4:300\n" * 20


@dataclass(frozen=True)
class Imported:
    """The artefacts of such a profile, and what the last command printed."""

    folder: Path
    phases: dict[str, Any]
    plan: dict[str, Any]
    said: str


@pytest.fixture(scope="module")
def imported(kadence: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Imported:
    folder = tmp_path_factory.mktemp("imported")
    (folder / "a.bb").write_text(TEXT)
    said = ""
    for words in (
        ("profile", "import", "a.bb", "-o", "a.kprof"),
        ("phases", "a.kprof", "-o", "a.phases.json"),
        ("plan", "a.phases.json", "-o", "a.plan.json"),
    ):
        done = kadence(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
        said = done.stdout
    phases, plan = (json.loads((folder / f"a.{name}.json").read_text()) for name in STAGES)
    return Imported(folder, phases, plan, said)


def test_phases_are_unseen(imported: Imported) -> None:
    assert imported.phases["backend"] == "simpoint"
    assert [phase["kind"] for phase in imported.phases["phases"]] == ["unseen"] * 2
    assert imported.phases["concurrency"]["evidence"] == (
        "threads and processes were not seen; system calls were not seen"
    )


def test_a_plan_claims_nothing(imported: Imported) -> None:
    plan = imported.plan
    assert plan["needs"] is None
    for part in "io", "memory":
        assert plan[part]["mode"] == "off"
        assert "imported from SimPoint's text" in plan[part]["reason"]
    assert "no I/O paths: the profile was imported" in imported.said
    assert [(policy["name"], policy["quantum_ns"]) for policy in plan["policies"]] == [
        ("unseen", 0)
    ] * 2
    for policy in plan["policies"]:
        assert "system calls were not seen" in policy["evidence"]
        assert "how many tasks there are was not seen" in policy["evidence"]


def test_no_kernel_is_tailored_to_it(
    imported: Imported, kadence: Callable[..., Any], refused: Callable[..., str]
) -> None:
    complaint = refused(kadence("kernel", "build", "--plan", imported.folder / "a.plan.json"))
    assert "made from a profile without system calls" in complaint


def test_the_page_says_what_was_not_seen(imported: Imported, kadence: Callable[..., Any]) -> None:
    done = kadence("view", "a.phases.json", "--no-open", cwd=imported.folder)
    assert done.returncode == 0, done.stderr
    page = (imported.folder / "a.html").read_text()
    assert page.count('<td class="phase">system calls unseen</td>') == 2


def test_what_was_imported_before_reads_as_it_did(
    imported: Imported, kadence: Callable[..., Any], tmp_path: Path
) -> None:
    """Such a profile's backend says that the system calls were seen."""
    profile = kprof.read(imported.folder / "a.kprof")
    kprof.write(tmp_path / "old.kprof", replace(profile, backend=KBBV))
    done = kadence("phases", "old.kprof", "-o", "old.phases.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "old.phases.json").read_text())
    assert [phase["kind"] for phase in found["phases"]] == ["compute"] * 2
    assert found["assignment"] == imported.phases["assignment"]
