# SPDX-License-Identifier: GPL-2.0-or-later
"""The command itself: errors in one sentence, artefacts read strictly and written atomically."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence import doctor
from kadence.base import artefact
from kadence.base.errors import ArtefactError
from kadence.cli import VERBS

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[[subprocess.CompletedProcess[str]], str]


def test_help_lists_every_verb(kadence: Run) -> None:
    completed = kadence("--help")
    assert completed.returncode == 0
    for verb in VERBS:
        assert verb in completed.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(kadence: Run, verb: str) -> None:
    completed = kadence(verb, "--help")
    assert completed.returncode == 0
    assert completed.stderr == ""


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["phases"], ["phases", "--nonsense"]])
def test_bad_command_lines_are_one_sentence(
    kadence: Run, refused: Refused, arguments: list[str]
) -> None:
    assert "--help" in refused(kadence(*arguments))


def test_artefact_round_trip_is_deterministic(tmp_path: Path) -> None:
    for name in ("a", "b"):
        artefact.write(tmp_path / name, artefact.PLAN, "ab12", ["kadence", "plan"], {"x": [1, 2.5]})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    document = artefact.read(tmp_path / "a", artefact.PLAN)
    assert document["x"] == [1, 2.5]
    assert document["build_id"] == "ab12"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "not a kadence.plan"),
        ("[]", "not a kadence.plan"),
        ("{}", "not a kadence.plan"),
        ('{"schema": "kadence.phases", "version": 1}', "not a kadence.plan"),
        ('{"schema": "kadence.plan", "version": 99}', "version 99"),
        ('{"schema": "kadence.plan"', "not a kadence.plan"),
        ("\x00\x01\x02", "not a kadence.plan"),
    ],
)
def test_unknown_artefacts_are_refused(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "x.plan.json"
    path.write_text(content)
    with pytest.raises(ArtefactError, match=complaint):
        artefact.read(path, artefact.PLAN)


def test_binary_artefact_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.plan.json"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(ArtefactError, match="not a kadence.plan"):
        artefact.read(path, artefact.PLAN)


def test_failed_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.plan.json"
    path.write_text("old")

    class FailingError(Exception):
        pass

    with pytest.raises(FailingError), artefact.atomic_output(path) as temporary:
        temporary.write_text("half")
        raise FailingError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_unwritable_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="cannot write"):
        artefact.write(tmp_path / "no" / "x.json", artefact.PLAN, None, [], {})


def test_special_file_is_not_replaced() -> None:
    with pytest.raises(ArtefactError, match="not a regular file"):
        artefact.write(Path("/dev/null"), artefact.PLAN, None, [], {})
    assert Path("/dev/null").is_char_device()


def test_numbers_that_json_has_not_are_never_written(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(ValueError, match="not JSON compliant"):
        artefact.write(path, artefact.PLAN, None, [], {"x": float("nan")})
    assert not path.exists()


def test_written_artefact_is_json(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    artefact.write(path, artefact.REPORT, None, ["kadence"], {"text": "µs"})
    assert json.loads(path.read_text())["text"] == "µs"


def test_doctor_finds_nothing_missing_after_build(kadence: Run) -> None:
    completed = kadence("doctor", "--no-build")
    assert completed.returncode == 0, completed.stdout
    assert "Nothing is missing." in completed.stdout


def test_doctor_names_the_package_of_a_missing_program(kadence: Run, tmp_path: Path) -> None:
    completed = kadence("doctor", "--no-build", env={"PATH": str(tmp_path), "HOME": str(tmp_path)})
    assert completed.returncode == 1
    assert "do: apt-get install valgrind" in completed.stdout


def test_doctor_says_when_the_disk_is_too_small(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "not" / "yet"))
    monkeypatch.setattr(doctor, "BUILD_BYTES", 1 << 60)
    remedies = [finding.remedy for finding in doctor.examine() if not finding.present]
    assert any("KADENCE_CACHE" in remedy for remedy in remedies)


def test_doctor_says_when_a_guest_has_no_place_for_its_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # No user can create a file in sysfs.
    monkeypatch.setenv("KADENCE_MEMORY_DIRECTORY", "/sys")
    remedies = [finding.remedy for finding in doctor.examine() if not finding.present]
    assert any("does not fit /sys" in remedy for remedy in remedies), remedies
