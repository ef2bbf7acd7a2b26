# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence tune` on a program whose quicker and slower settings are planted."""

import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_SECONDS

from kadence.base import artefact

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[[subprocess.CompletedProcess[str]], str]

# The time is in the loop. A volatile counter makes it the same for every compiler's options.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) void work(long rounds)
{
	for (volatile long i = 0; i < rounds; i++)
		;
}
int main(void)
{
	const char *much = getenv("MUCH");
	long rounds = 30000000;

	work(!much ? rounds : !strcmp(much, "eighth") ? rounds / 8 : rounds * 2);
	puts(much && !strcmp(much, "wrong") ? "wrong" : "result");
	return 0;
}
"""
MAKEFILE = "CFLAGS ?= -O1\np: p.c\n\t$(CC) $(CFLAGS) -o $@ $<\n"
TOML = """\
[program]
name = "p"
[build]
command = "make"
[run]
command = ["./p"]
interval = 5000000
[check]
command = ["./p"]
"""
ROW = """
[[candidate]]
name = "{name}"
dimension = "{dimension}"
summary = "planted"
environment = {{ MUCH = "{much}" }}
effects = [{{ work = "run", left = {left} }}]
"""
PLANTED = "".join(
    ROW.format(name=name, dimension=dimension, much=much, left=left)
    for name, dimension, much, left in (
        ("quick", "allocator", "eighth", "[0.1, 0.3, 1.1]"),
        ("slow", "compiler", "double", "[0.4, 0.9, 3.0]"),
        ("wrong", "program", "wrong", "[0.4, 0.9, 3.0]"),
        ("hopeless", "allocator", "eighth", "[1.0, 1.0, 1.0]"),
    )
)
OPTIONS = ("--by", "processor", "--budget", "600", "--seed", "3")


@dataclass
class Place:
    """The program's folder, the list of candidates, and the results."""

    folder: Path
    run: Run

    @property
    def output(self) -> Path:
        return self.folder.parent / "out"

    @property
    def race(self) -> Path:
        return self.output / "tune" / "race.json"

    def words(self, *more: object) -> list[str]:
        listed = self.folder.parent / "list.toml"
        return ["tune", str(self.folder), "-o", str(self.output), "--candidates", str(listed)] + [
            *OPTIONS,
            *map(str, more),
        ]

    def tune(self, *more: object) -> subprocess.CompletedProcess[str]:
        return self.run(*self.words(*more))

    def rounds(self) -> int:
        """The number of rounds in the state; 0 if there is none."""
        if not self.race.exists():
            return 0
        found = json.loads(self.race.read_text())
        confirming = found["confirming"] or {"rounds": []}
        contests = [len(contest["rounds"]) for contest in found["contests"]]
        return sum(contests) + len(confirming["rounds"])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A tune that is done; later tests tune the same program."""
    folder = tmp_path_factory.mktemp("tune") / "p"
    folder.mkdir()
    for name, text in (("p.c", SOURCE), ("Makefile", MAKEFILE), ("kadence.toml", TOML)):
        (folder / name).write_text(text)
    (folder.parent / "list.toml").write_text(PLANTED)
    command = Path(sys.executable).parent / "kadence"

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        told = {"capture_output": True, "text": True, "timeout": PATIENCE_SECONDS} | options
        return subprocess.run([command, *map(str, arguments)], check=False, **told)

    return Place(folder, run)


@pytest.fixture(scope="module")
def tuned(place: Place) -> subprocess.CompletedProcess[str]:
    return place.tune("--again")


def document(place: Place) -> dict[str, Any]:
    return artefact.read(place.output / "p.tune.json", artefact.TUNE)


def test_the_planted_winner_wins(place: Place, tuned: subprocess.CompletedProcess[str]) -> None:
    assert tuned.returncode == 0, tuned.stderr
    found = document(place)
    assert found["verdict"]["outcome"] == "winner"
    ratio = found["verdict"]["ratio"]
    assert ratio["low"] <= ratio["value"] <= ratio["high"] < 0.8
    outcomes = {row["name"]: row["outcome"] for row in found["candidates"]}
    assert outcomes == {
        **{"quick": "winner", "slow": "dropped", "wrong": "refused", "hopeless": "not raced"}
    }
    assert found["verdict"]["apply"][0] == "run: MUCH=eighth ./p"
    assert (found["by"], found["seed"]) == ("processor", 3)


def test_the_table_says_why(tuned: subprocess.CompletedProcess[str]) -> None:
    assert "hopeless: gains less than 1 % even at best" in tuned.stdout
    assert "wrong: its standard output is not the plain program's" in tuned.stdout
    assert "line 1 is 'result' in one and 'wrong' in the other" in tuned.stdout
    assert "\nQuick takes " in tuned.stdout or "\nquick takes " in tuned.stdout
    assert "less processor time than the plain program" in tuned.stdout
    assert "    run: MUCH=eighth ./p\n" in tuned.stdout


def test_the_cost_is_told_before_the_first_round(
    tuned: subprocess.CompletedProcess[str],
) -> None:
    told = tuned.stderr
    assert told.index("runs: ") < told.index("round 1:")
    assert "at most 0 builds of the program and " in told
    assert "the budget is 600 s" in told


def test_a_finished_tune_is_told_again_without_runs(
    place: Place, tuned: subprocess.CompletedProcess[str]
) -> None:
    before = place.race.read_bytes()
    again = place.tune("--resume")
    assert again.returncode == 0
    assert "round " not in again.stderr
    assert again.stdout.splitlines()[-8:] == tuned.stdout.splitlines()[-8:]
    assert json.loads(place.race.read_bytes()) == json.loads(before)


def killed(place: Place, rounds: int, delay: float, *more: object) -> None:
    """Start a tune, and kill it at some instant after so many rounds."""
    command = [Path(sys.executable).parent / "kadence", *place.words(*more)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while place.rounds() < rounds and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(delay)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def running(place: Place) -> list[str]:
    """Programs that run in a folder of the results."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if (each / "cwd").readlink().is_relative_to(place.output):
                found.append((each / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_a_killed_tune_resumes_without_losing_a_round(
    place: Place, tuned: subprocess.CompletedProcess[str], refused: Refused
) -> None:
    generator = random.Random(8)
    place.race.unlink()
    killed(place, 1, 0.0)
    done = place.rounds()
    assert done >= 1
    assert "go on with --resume" in refused(place.tune())
    for _ in range(2):
        killed(place, done + 1, generator.uniform(0.0, 0.1), "--resume")
        assert place.rounds() > done
        done = place.rounds()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while running(place):
        assert time.monotonic() < deadline, running(place)
        time.sleep(0.05)
    assert place.tune("--resume").returncode == 0
    assert place.rounds() >= done
    assert document(place)["verdict"]["apply"][0] == "run: MUCH=eighth ./p"


def test_an_interrupted_tune_says_how_to_go_on(
    place: Place, tuned: subprocess.CompletedProcess[str]
) -> None:
    command = [Path(sys.executable).parent / "kadence", *place.words("--again")]
    place.race.unlink()
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "round 1:" in line:
                process.send_signal(signal.SIGINT)
                break
        told = process.stderr.read()
    assert process.returncode == 130
    assert "Traceback" not in told
    said = re.search(r"interrupted; `(.*)` goes on with the next round", told)
    assert said is not None, told
    resumed = subprocess.run(
        [Path(sys.executable).parent / "kadence", *shlex.split(said[1])[1:]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert resumed.returncode == 0, resumed.stderr
    assert "resumed after" in resumed.stderr


def test_a_full_disk_ends_in_one_sentence_and_the_tune_resumes(
    place: Place, tuned: subprocess.CompletedProcess[str]
) -> None:
    place.race.unlink()
    completed = place.run(
        *place.words("--again"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)),
    )
    assert completed.returncode == 1
    assert "race.json: File too large" in completed.stderr.splitlines()[-1]
    assert 0 < place.rounds() < 13
    assert [each.name for each in place.race.parent.glob(".race*")] == []
    assert place.tune("--resume").returncode == 0
    assert document(place)["verdict"]["apply"][0] == "run: MUCH=eighth ./p"


def test_a_damaged_state_is_refused(
    place: Place, tuned: subprocess.CompletedProcess[str], refused: Refused
) -> None:
    content = place.race.read_text()
    place.race.write_text(content.replace('"seed": 3', '"seed": 4'))
    assert "race.json is damaged" in refused(place.tune("--resume"))
    place.race.write_text(content[: len(content) // 2])
    assert "race.json is not a kadence.race artefact" in refused(place.tune("--resume"))
    place.race.write_text(content)


def test_another_list_or_way_is_refused_by_name(
    place: Place, tuned: subprocess.CompletedProcess[str], refused: Refused
) -> None:
    listed = place.folder.parent / "list.toml"
    listed.write_text(PLANTED.replace("planted", "other"))
    assert "belongs to another list of candidates" in refused(place.tune("--resume"))
    listed.write_text(PLANTED)
    assert "another way to compare" in refused(place.tune("--resume", "--by", "seconds"))
    assert "has the seed 3, not 4" in refused(place.tune("--resume", "--seed", "4"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--budget", "0"], "a budget of 0 s is none"),
        (["--budget", "-5"], "a budget of -5 s is none"),
        (["--budget", "nan"], "a budget of nan s is none"),
        (["--budget", "0.01", "--again"], "a budget of 0.01 s is too small"),
        (["--resume", "--again"], "give one of them"),
        (["--candidates", "fast"], "there is no candidate 'fast'; choose from huge,"),
        (["--candidates", "none.toml"], "cannot read the candidates in none.toml"),
        (["--by", "luck"], "invalid choice: 'luck'"),
    ],
)
def test_bad_options_are_refused(
    place: Place,
    tuned: subprocess.CompletedProcess[str],
    refused: Refused,
    arguments: list[str],
    complaint: str,
) -> None:
    completed = place.tune(*arguments)
    told = [line for line in completed.stderr.splitlines() if line.startswith("kadence: ")]
    assert completed.returncode == 1
    assert "Traceback" not in completed.stderr
    assert complaint in told[-1]


def test_an_empty_folder_is_refused(kadence: Run, refused: Refused, tmp_path: Path) -> None:
    assert "has no kadence.toml" in refused(kadence("tune", tmp_path))


def test_without_a_compiler_the_build_is_refused(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    shutil.copytree(place.folder, folder)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "make", "env", "readlink"):
        (tools / name).symlink_to(shutil.which(name) or "")
    completed = place.run(
        *("tune", folder, "-o", tmp_path / "out"), env=os.environ | {"PATH": str(tools)}
    )
    assert completed.returncode == 1
    told = completed.stderr.splitlines()[-1]
    assert "`make` ended with status 2" in told
    assert "Traceback" not in completed.stderr


def test_another_source_is_another_build(
    place: Place, tuned: subprocess.CompletedProcess[str]
) -> None:
    source = place.folder / "p.c"
    source.write_text(SOURCE.replace("30000000", "30000001"))
    completed = place.tune("--resume")
    source.write_text(SOURCE)
    assert completed.returncode == 1
    assert "belongs to another build of the program" in completed.stderr.splitlines()[-1]
