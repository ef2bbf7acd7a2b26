# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence bundle` of a program's folder, with a real kernel that is proven for it."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packing import noted_build_id

from kadence.base import artefact
from kadence.kconfig.store import store
from kadence.slurm import bundle, keys

pytestmark = pytest.mark.kernel

Kadence = Callable[..., Any]
UNIT = Path(__file__).resolve().parent / "programs/counts.c"
SOURCE = """
#include <stdio.h>
int main(int count, char **words)
{
	volatile double sum = 0;
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < 100000; i++)
			sum += i % 7;
	printf("%d %.0f\\n", count > 1 && words[1][0] == 'x', sum);
	return 0;
}
"""
DESCRIPTION = """
[program]
name = "p"
[build]
command = "make"
[run]
command = ["./p"]
interval = 10000
[check]
command = ["./p", "check"]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, kadence: Kadence) -> Path:
    """A folder with a program `p`, a key, and a bundle made from both."""
    place = tmp_path_factory.mktemp("bundled")
    (place / "p").mkdir()
    (place / "p/p.c").write_text(SOURCE)
    (place / "p/Makefile").write_text("p: p.c\n\t$(CC) -O2 -o $@ $<\n")
    (place / "p/kadence.toml").write_text(DESCRIPTION)
    keys.make(place / "key")
    made = kadence("bundle", "p", "--key", "key", cwd=place, timeout=2000)
    assert made.returncode == 0, made.stderr
    assert "not measured" in made.stderr
    return place


def test_it_holds_what_was_proven(place: Path) -> None:
    found = bundle.read(place / "p.kbundle")
    manifest = found.manifest
    kernel = store.load(manifest.kernels["um"].id)
    assert found.files["kernel/um"] == kernel.image.read_bytes()
    assert manifest.kernels["um"].release == kernel.manifest["release"]
    assert found.files["bin/p"] == (place / "p.kadence/adapted/p").read_bytes()
    assert found.files["plan.json"] == (place / "p.kadence/p.plan.json").read_bytes()
    assert manifest.programs[0].replaces == (noted_build_id(place / "p.kadence/plain/p"),)
    assert manifest.programs[0].build_id == noted_build_id(place / "p.kadence/adapted/p")
    assert manifest.measured == {}


def test_configurations_say_what_the_kernels_are_asked_for(place: Path) -> None:
    found = bundle.read(place / "p.kbundle")
    own = json.loads(found.files["config/um.json"])
    kernel = store.load(own["id"]).manifest
    assert own["id"] == found.manifest.kernels["um"].id
    requested = {each["symbol"]: each["value"] for each in own["requested"]}
    reasons = {each["symbol"]: each["reason"] for each in own["requested"]}
    assert (requested, reasons) == (kernel["requested"], kernel["reasons"])
    node = json.loads(found.files["config/x86_64.json"])
    asked = {each["symbol"]: each["value"] for each in node["requested"]}
    assert node["target"] == "x86_64" and asked["CPU_MITIGATIONS"] == "n"
    assert node["needs"] == own["needs"]


@pytest.mark.full
def test_units_are_in_the_kernel_and_named(place: Path, kadence: Kadence) -> None:
    folder = place / "q"
    shutil.copytree(place / "p", folder)
    shutil.copy(UNIT, folder)
    description = DESCRIPTION + '[plan]\nunits = ["counts.c:0"]\n'
    (folder / "kadence.toml").write_text(description.replace('"p"', '"q"'))
    made = kadence("bundle", "q", "--unsigned", cwd=place, timeout=2000)
    assert made.returncode == 0, made.stderr
    described = bundle.read(place / "q.kbundle").manifest
    assert [(unit.name, unit.phases) for unit in described.units] == [("counts", (0,))]
    kernel = store.load(described.kernels["um"].id)
    assert kernel.manifest["units"] == {"counts": described.units[0].sha256}
    assert described.units_variable() == "counts:0"
    shown = kadence("bundle", "--show", "q.kbundle", cwd=place)
    assert "unit counts for phases 0\n" in shown.stdout


def again(kadence: Kadence, place: Path, *options: str) -> Any:
    """Make the bundle anew under another name."""
    words = ["bundle", "p", "--key", "key", "-o", "again.kbundle", *options]
    return kadence(*words, cwd=place, timeout=2000)


def test_the_same_folder_gives_the_same_bytes(place: Path, kadence: Kadence) -> None:
    made = again(kadence, place)
    assert made.returncode == 0 and "plan: unchanged" in made.stderr
    assert (place / "again.kbundle").read_bytes() == (place / "p.kbundle").read_bytes()


def report(place: Path, **changes: Any) -> Path:
    """Write a report of these builds, with a verdict."""
    kernel = bundle.read(place / "p.kbundle").manifest.kernels["um"].id
    builds = [
        {
            "file": "p",
            "plain": noted_build_id(place / "p.kadence/plain/p"),
            "adapted": noted_build_id(place / "p.kadence/adapted/p"),
        }
    ]
    document = {
        "schema": artefact.REPORT,
        "version": artefact.VERSIONS[artefact.REPORT],
        "program": {"builds": builds},
        "kernels": [{"kind": "tailored", "id": kernel}],
        "verdict": {
            "outcome": "faster",
            "sentence": "It takes less.",
            "kernel": "tailored",
            "ratio": {"value": 0.75},
        },
    }
    path = place / "report.json"
    path.write_text(json.dumps(document | changes))
    return path


def test_a_report_of_these_builds_is_taken(place: Path, kadence: Kadence) -> None:
    usual = report(place).rename(place / "p.kadence/report.json")
    assert again(kadence, place).returncode == 0
    usual.unlink()
    measured = bundle.read(place / "again.kbundle").manifest.measured["um"]
    assert (measured.outcome, measured.ratio) == ("faster", 0.75)
    shown = kadence("bundle", "--show", "again.kbundle", cwd=place)
    assert "measured on um: It takes less." in shown.stdout


def test_a_report_of_others_is_not(
    place: Path, kadence: Kadence, refused: Callable[..., str]
) -> None:
    other = report(place, kernels=[{"kind": "tailored", "id": "0123456789abcdef"}])
    made = again(kadence, place, "--report", str(other))
    assert made.returncode == 1
    assert made.stderr.splitlines()[-1].startswith(f"kadence: {other} is of other builds")
    other.rename(place / "p.kadence/report.json")
    made = again(kadence, place)
    assert made.returncode == 0 and "is of other builds" in made.stderr
    assert bundle.read(place / "again.kbundle").manifest.measured == {}


def test_without_a_key_nothing_is_done(
    place: Path, kadence: Kadence, refused: Callable[..., str], tmp_path: Path
) -> None:
    home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    said = refused(kadence("bundle", place / "p", cwd=tmp_path, env=home))
    assert "make a key with `kadence key`" in said and "--unsigned" in said
    assert list(tmp_path.iterdir()) == []


def test_unsigned_on_demand(place: Path, kadence: Kadence) -> None:
    words = ["bundle", "p", "--unsigned", "-o", "unsigned.kbundle"]
    assert kadence(*words, cwd=place, timeout=2000).returncode == 0
    assert bundle.read(place / "unsigned.kbundle").signature is None
    listing = subprocess.run(
        f"zstd -dc {place}/unsigned.kbundle | tar -tf -", shell=True, capture_output=True, text=True
    )
    assert "manifest.sig" not in listing.stdout.split()
