# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures while a kernel is built, on every target: no incomplete kernel is ever kept."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kadence.base.errors import ArtefactError, BuildError
from kadence.kconfig.request import series, targets
from kadence.kconfig.request.series import Patch
from kadence.kconfig.store import build as building
from kadence.kconfig.store import collect, store
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.trace import artefact as trace_artefact
from kadence.kconfig.trace.observed import Observed
from kadence.kconfig.trace.symbols import Symbol

COMMAND = Path(sys.executable).parent / "kadence"
# Targets, and the kinds of kernel of which the store keeps different files.
LAYOUTS = [("um", "generic"), ("x86_64", "generic"), ("x86_64", "traced")]
each_layout = pytest.mark.parametrize(("target", "kind"), LAYOUTS)


def request_for(toy: Any, target: str, kind: str) -> BuildRequest:
    return BuildRequest(kind=kind, target=target, source=toy.tree)


def kept() -> list[Path]:
    """Kernels in the store, complete or not, and build folders."""
    kernels = [path for path in store.folder().glob("*") if not path.name.endswith(".lock")]
    return kernels + list(building.remains_of())


def start(toy: Any, target: str, kind: str) -> "subprocess.Popen[str]":
    words = ["kernel", "build", f"--{kind}", "--target", target, "--source", toy.tree]
    return subprocess.Popen(
        [COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@each_layout
def test_a_kernel_has_exactly_the_files_of_its_kind(toy: Any, target: str, kind: str) -> None:
    kernel = build(request_for(toy, target, kind))
    names = {"image", "config", "fragment", "manifest.json", "build.log"}
    names |= {"vmlinux"} if kind == "traced" else set()
    names |= {"functions"} if target == "x86_64" else set()
    assert {path.name for path in kernel.path.iterdir()} == names
    assert (kernel.target, kernel.kind) == (target, kind)
    assert kernel.image.read_bytes()[:4] == (b"\x7fELF" if target == "um" else b"\x1f\x8b\x08\x00")
    assert kernel.manifest["text_bytes"] > 0
    assert kernel.manifest["build_seconds"] >= 0
    assert store.find(kernel.id, target=target) == kernel


@each_layout
def test_symbols_are_counted_as_the_configuration_has_them(
    toy: Any, target: str, kind: str
) -> None:
    toy.define('config HIDDEN\n\tbool\n\tdefault y\nconfig OPEN\n\tbool "open"\n\tdefault y\n')
    kernel = build(request_for(toy, target, kind))
    lines = kernel.config.read_text().splitlines()
    on = [line for line in lines if line.endswith("=y")]
    assert "CONFIG_HIDDEN=y" in on
    assert kernel.manifest["symbols_on"] == len(on)
    assert kernel.manifest["symbols_chosen"] == len(on) - 1


@each_layout
@pytest.mark.parametrize(
    ("failure", "said"),
    [("error", "toy.c:1:1: error: toys break"), ("space", "no space left on the disk of")],
)
def test_a_failed_build_is_not_kept(
    toy: Any, toy_failures: dict[str, str], target: str, kind: str, failure: str, said: str
) -> None:
    toy.behave(toy_failures[failure])
    with pytest.raises(BuildError, match=said):
        build(request_for(toy, target, kind))
    assert kept() == []
    toy.behave(":")
    assert build(request_for(toy, target, kind)).kind == kind


@each_layout
def test_a_disk_that_fills_while_storing_leaves_nothing(
    toy: Any, target: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(building.artefact, "write", full)
    with pytest.raises(BuildError, match="no space left on the disk of"):
        build(request_for(toy, target, kind))
    assert kept() == []


@each_layout
def test_a_killed_build_leaves_no_half_kernel(
    toy: Any, toy_failures: dict[str, str], target: str, kind: str
) -> None:
    toy.behave(toy_failures["hang"])
    process = start(toy, target, kind)
    for _ in range(1200):
        if toy.times_built():
            break
        time.sleep(0.05)
    process.kill()
    process.communicate()
    assert store.identifiers() == []
    toy.behave(":")
    kernel = build(request_for(toy, target, kind))
    collect.collect()
    assert kept() == [kernel.path]


@each_layout
def test_two_builds_at_once_share_one_kernel(toy: Any, target: str, kind: str) -> None:
    toy.behave("sleep 1")
    both = [start(toy, target, kind) for _ in range(2)]
    outputs = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert toy.times_built() == 1


@each_layout
def test_a_damaged_file_is_refused_by_name_and_built_anew(toy: Any, target: str, kind: str) -> None:
    kernel = build(request_for(toy, target, kind))
    for damaged in [kernel.image, *kernel.path.glob("vmlinux")]:
        damaged.write_bytes(damaged.read_bytes()[:-1])
        with pytest.raises(ArtefactError, match=f"the {damaged.name} of kernel {kernel.id} is not"):
            store.find(kernel.id)
        again = build(request_for(toy, target, kind))
        assert again.image.read_bytes()
        assert again.manifest["image_sha256"] == kernel.manifest["image_sha256"]


@pytest.mark.parametrize("target", list(targets.known()))
def test_a_source_that_wants_another_compiler_says_so(
    toy: Any, pristine: Path, target: str
) -> None:
    toy.want_newer_compiler(pristine)
    with pytest.raises(BuildError, match=r"can't be built with gcc-12; it wants GCC 99\.1\.0"):
        build(request_for(toy, target, "generic"))
    assert kept() == []


@pytest.fixture(params=list(targets.known()))
def spoilt_patch(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A recorded patch for a file that differs in this tree; yields the patch's target."""
    target = str(request.param)
    (tmp_path / "spoilt.patch").write_text(
        "--- a/Kconfig\n+++ b/Kconfig\n@@ -1,1 +1,1 @@\n-what is not there\n+what should be\n"
    )
    monkeypatch.setattr(series, "PATCHES", tmp_path)
    patch = Patch("spoilt.patch", [target], "generic", "for this test")
    monkeypatch.setattr(series, "patches_for", lambda *_: (patch,))
    yield target


def test_a_patch_that_does_not_apply_is_named(toy: Any, spoilt_patch: str) -> None:
    with pytest.raises(BuildError, match=r"spoilt\.patch does not apply to this source"):
        build(request_for(toy, spoilt_patch, "generic"))
    assert kept() == []


def test_what_a_trace_asks_for_may_be_missing_and_is_recorded(
    toy: Any, write_plan: Callable[..., Path], tmp_path: Path
) -> None:
    toy.define('config NEEDS_MORE\n\tbool "more"\n\tdepends on ABSENT\nconfig RAN\n\tbool "ran"\n')
    trace = write_trace(tmp_path, program=["RAN", "NEEDS_MORE", "UNKNOWN"], others=["EARLY"])
    request = BuildRequest(kind="tailored", plan=write_plan(), trace=trace, source=toy.tree)
    kernel = build(request)
    assert "CONFIG_RAN=y" in kernel.config.read_text().splitlines()
    assert kernel.manifest["unavailable"] == ["NEEDS_MORE", "UNKNOWN"]
    assert "fs/toy.c:7" in kernel.manifest["reasons"]["RAN"]
    assert "EARLY" not in kernel.manifest["requested"]


def test_a_rule_with_a_reason_stands_above_the_trace(
    toy: Any, write_plan: Callable[..., Path], tmp_path: Path
) -> None:
    trace = write_trace(tmp_path, program=["AUDIT"])
    request = BuildRequest(kind="tailored", plan=write_plan(), trace=trace, source=toy.tree)
    assert build(request).manifest["requested"]["AUDIT"] == "n"


def test_an_override_stands_above_everything_and_changes_the_id(
    toy: Any, write_plan: Callable[..., Path]
) -> None:
    plain = BuildRequest(kind="tailored", plan=write_plan(), source=toy.tree)
    changed = BuildRequest(
        kind="tailored", plan=plain.plan, source=toy.tree, overrides=(("AUDIT", "y"),)
    )
    kernels = [build(plain), build(changed)]
    assert [kernel.manifest["requested"]["AUDIT"] for kernel in kernels] == ["n", "y"]
    assert kernels[0].id != kernels[1].id
    assert " --set AUDIT=y" in " ".join(kernels[1].manifest["command"])


def write_trace(folder: Path, program: list[str], others: list[str] | None = None) -> Path:
    """A trace as `kadence kernel trace` writes it, with the parts that building a kernel uses."""
    ran = [(symbol, "program") for symbol in program]
    ran += [(symbol, "any") for symbol in others or []]
    symbols = [Symbol(symbol, when, "fs/toy.c:7", 3) for symbol, when in ran]
    extent = trace_artefact.Extent(instructions=3, functions=1)
    seen = Observed(system_calls=[], socket_families=[], file_systems=[], paths=[])
    path = folder / "p.ktrace.json"
    found = trace_artefact.Trace(["./p"], "0123456789abcdef", extent, extent, symbols, seen)
    trace_artefact.write(path, found, ["kadence", "kernel", "trace"])
    return path


def test_a_kernel_made_from_a_trace_is_found_with_it(
    toy: Any, write_plan: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.define('config RAN\n\tbool "ran"\n')
    plan, trace = write_plan(), write_trace(tmp_path, program=["RAN"])
    request = partial(BuildRequest, source=toy.tree)
    monkeypatch.setattr(store, "BuildRequest", request)
    kernel = build(request(kind="tailored", plan=plan, trace=trace))
    assert store.find("tailored", plan, trace=trace).id == kernel.id
    with pytest.raises(BuildError, match="is not built"):
        store.find("tailored", plan)
