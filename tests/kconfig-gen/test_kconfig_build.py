# SPDX-License-Identifier: GPL-2.0-or-later
"""Building into the store, with a toy kernel tree that fails on demand."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.kconfig.store import build as building
from kadence.kconfig.store import collect, store
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.tree import commands, source

Run = Callable[..., "subprocess.CompletedProcess[str]"]
COMMAND = Path(sys.executable).parent / "kadence"


def start(toy: Any, *arguments: str) -> "subprocess.Popen[str]":
    """Start a build of the toy in a separate process."""
    words = [COMMAND, "kernel", "build", "--generic", "--source", toy.tree, *arguments]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lasting(kernel: store.Kernel) -> dict[str, Any]:
    """The manifest, except for the duration of the build."""
    return {key: value for key, value in kernel.manifest.items() if key != "build_seconds"}


def wait_until(condition: Callable[[], object]) -> None:
    """Poll for about a minute; this bound only serves to end a hanging test."""
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("the condition never came true")


def nothing_is_left() -> bool:
    """Whether there is no kernel, complete or not, and no build folder."""
    kernels = [path for path in store.folder().glob("*") if not path.name.endswith(".lock")]
    return not kernels and not list(building.remains_of())


def test_a_kernel_is_built_once(toy: Any, kadence: Run) -> None:
    first = kadence("kernel", "build", "--generic", "--source", toy.tree)
    assert first.returncode == 0, first.stderr
    identifier, image = first.stdout.split()[:2]
    assert Path(image) == store.path_of(identifier) / "image"
    assert os.access(image, os.X_OK)
    assert f"again: kadence kernel build --generic --target um --source {toy.tree}" in first.stdout
    second = kadence("kernel", "build", "--generic", "--source", toy.tree)
    assert second.stdout == first.stdout
    assert toy.times_built() == 1
    assert not list(building.remains_of())


def test_the_manifest_says_what_was_built(toy: Any, kadence: Run) -> None:
    kernel = build(BuildRequest(source=toy.tree))
    manifest = kernel.manifest
    assert manifest["schema"] == "kadence.kernel"
    assert manifest["id"] == kernel.id
    assert (manifest["kind"], manifest["target"]) == ("generic", "um")
    assert manifest["release"] == "6.12.0-toy"
    assert set(manifest["requested"]) == set(manifest["reasons"])
    assert manifest["image_bytes"] == kernel.image.stat().st_size
    assert 0 < manifest["text_bytes"] < manifest["image_bytes"]
    shown = kadence("kernel", "show", kernel.id[:6])
    assert json.loads(shown.stdout)["image_sha256"] == manifest["image_sha256"]
    listed = kadence("kernel", "list")
    assert listed.stdout.startswith(f"{kernel.id}  generic   um  6.12.0-toy  100 Hz")
    assert "CONFIG_KADAPT=y" in kernel.config.read_text().splitlines()
    assert (kernel.path / "build.log").read_text().startswith("kadence kernel build")


def test_the_same_inputs_give_the_same_kernel_elsewhere(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = build(BuildRequest(source=toy.tree))
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("ARCH", "alpha")
    monkeypatch.setenv("MAKEFLAGS", "-n")
    there = build(BuildRequest(source=toy.tree))
    assert here.path != there.path
    assert lasting(here) == lasting(there)
    assert here.image.read_bytes() == there.image.read_bytes()


def test_each_input_changes_the_id(toy: Any, write_plan: Callable[..., Path]) -> None:
    identifiers = {build(BuildRequest(source=toy.tree)).id}
    plan = write_plan()
    tailored = BuildRequest(kind="tailored", plan=plan, source=toy.tree)
    identifiers.add(build(tailored).id)
    write_plan(plan, system_calls=["io_uring_setup"])
    identifiers.add(build(tailored).id)
    (toy.home / "kadapt/uapi/kadapt.h").write_text("/* changed */\n")
    identifiers.add(build(tailored).id)
    toy.define("config MORE\n\tbool\n")
    identifiers.add(build(tailored).id)
    assert len(identifiers) == 5


def test_plans_that_need_the_same_share_a_kernel(
    toy: Any, write_plan: Callable[..., Path], tmp_path: Path
) -> None:
    plans = [
        write_plan(tmp_path / name, system_calls=[call])
        for name, call in [("a.plan.json", "io_submit"), ("b.plan.json", "io_setup")]
    ]
    kernels = {
        build(BuildRequest(kind="tailored", plan=plan, source=toy.tree)).id for plan in plans
    }
    assert len(kernels) == 1
    assert toy.times_built() == 1


def test_a_tailored_kernel_stays_the_smallest(toy: Any, write_plan: Callable[..., Path]) -> None:
    toy.define('config EXTRA\n\tbool "extra"\n\tdepends on NET\n\tdefault y\n')
    request = BuildRequest(kind="tailored", plan=write_plan(socket_families=[2]), source=toy.tree)
    lines = build(request).config.read_text().splitlines()
    assert "CONFIG_INET=y" in lines
    assert "# CONFIG_EXTRA is not set" in lines


def test_the_users_tree_is_not_touched(toy: Any) -> None:
    before = source.tree_digest(toy.tree)
    build(BuildRequest(source=toy.tree))
    assert source.tree_digest(toy.tree) == before


def test_a_symbol_that_does_not_survive_is_an_error(
    toy: Any, kadence: Run, refused: Callable[..., str]
) -> None:
    toy.define('config NICE\n\tbool "nice"\nconfig HOSTFS\n\tbool "hostfs"\n\tdepends on NICE\n')
    complaint = refused(kadence("kernel", "build", "--generic", "--source", toy.tree))
    assert "CONFIG_HOSTFS=y" in complaint
    assert "the configuration has n" in complaint
    assert "unmet dependency: NICE (NICE is n)" in complaint
    assert nothing_is_left()


@pytest.mark.parametrize(
    ("failure", "said"),
    [("error", "toy.c:1:1: error: toys break"), ("space", "no space left on the disk of")],
)
def test_a_failed_build_leaves_nothing_but_its_log(
    toy: Any,
    toy_failures: dict[str, str],
    kadence: Run,
    refused: Callable[..., str],
    failure: str,
    said: str,
) -> None:
    toy.behave(toy_failures[failure])
    complaint = refused(kadence("kernel", "build", "--generic", "--source", toy.tree))
    assert said in complaint
    assert nothing_is_left()
    toy.behave(":")
    assert kadence("kernel", "build", "--generic", "--source", toy.tree).returncode == 0


def test_too_little_space_is_told_before_the_build(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands.shutil, "disk_usage", lambda place: _Usage(free=1000))
    with pytest.raises(Exception, match="building a kernel needs 0.7 GB"):
        build(BuildRequest(source=toy.tree))
    assert toy.times_built() == 0
    assert nothing_is_left()


class _Usage:
    def __init__(self, free: int) -> None:
        self.free = free


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_build_leaves_no_kernel_and_no_process(
    toy: Any, toy_failures: dict[str, str], number: signal.Signals, kadence: Run
) -> None:
    mark = f"exec -a kadence-toy-{os.getpid()}-{number} sleep 300"
    toy.behave(f"exec bash -c '{mark}'")
    process = start(toy)
    wait_until(lambda: _running(f"kadence-toy-{os.getpid()}-{number}"))
    process.send_signal(number)
    process.communicate()
    assert process.returncode != 0
    wait_until(lambda: not _running(f"kadence-toy-{os.getpid()}-{number}"))
    assert store.identifiers() == []
    # The next build removes what a killed build left.
    toy.behave(":")
    assert kadence("kernel", "build", "--generic", "--source", toy.tree).returncode == 0
    collect.collect()
    assert not list(building.remains_of())


def _running(name: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if name.encode() + b"\0" in path.read_bytes().split(b" ")[0]:
                return True
        except OSError:
            continue
    return False


def test_of_two_builds_at_once_one_builds_and_the_other_waits(toy: Any) -> None:
    toy.behave("sleep 2")
    both = [start(toy), start(toy)]
    outputs = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert toy.times_built() == 1
    assert sum("waiting for another process" in errors for _, errors in outputs) == 1


def test_a_damaged_image_is_refused_and_built_anew(
    toy: Any, kadence: Run, refused: Callable[..., str]
) -> None:
    kernel = build(BuildRequest(source=toy.tree))
    with kernel.image.open("r+b") as image:
        image.seek(100)
        image.write(b"damage")
    complaint = refused(kadence("kernel", "show", kernel.id))
    assert "is not the one that was built" in complaint
    assert "kadence kernel build --generic" in complaint
    assert "damaged" in kadence("kernel", "list").stdout
    build(BuildRequest(source=toy.tree))
    assert toy.times_built() == 2
    assert lasting(store.find(kernel.id)) == lasting(kernel)


@pytest.mark.parametrize("damage", ["", "{", '{"schema": "kadence.plan"}'])
def test_a_damaged_manifest_is_refused_and_built_anew(
    toy: Any, damage: str, kadence: Run, refused: Callable[..., str]
) -> None:
    kernel = build(BuildRequest(source=toy.tree))
    (kernel.path / "manifest.json").write_text(damage)
    refused(kadence("kernel", "show", kernel.id))
    assert lasting(build(BuildRequest(source=toy.tree))) == lasting(kernel)


def test_references_find_their_kernel(toy: Any, write_plan: Callable[..., Path]) -> None:
    plan = write_plan()
    tailored = build(BuildRequest(kind="tailored", plan=plan, source=toy.tree))
    generic = build(BuildRequest(source=toy.tree))
    assert store.find("tailored").id == tailored.id
    assert store.find(generic.id[:8]).id == generic.id
    assert {store.find(found).kind for found in store.identifiers()} == {"generic", "tailored"}


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("generic", "build it with: kadence kernel build --generic"),
        ("tailored", "build one with: kadence kernel build --plan"),
        ("0123", "`kadence kernel list` shows what there is"),
        ("", "`kadence kernel list` shows what there is"),
        ("../etc", "`kadence kernel list` shows what there is"),
    ],
)
def test_a_reference_to_nothing_says_how_to_build(
    toy: Any, kadence: Run, refused: Callable[..., str], reference: str, said: str
) -> None:
    assert said in refused(kadence("kernel", "show", reference))


def test_collecting_removes_what_is_superseded_and_nothing_else(
    toy: Any, write_plan: Callable[..., Path]
) -> None:
    tailored = build(BuildRequest(kind="tailored", plan=write_plan(), source=toy.tree))
    old = build(BuildRequest(source=toy.tree))
    os.utime(old.path / "manifest.json", (1, 1))
    (toy.home / "kadapt/uapi/kadapt.h").write_text("/* a newer driver */\n")
    new = build(BuildRequest(source=toy.tree))
    assert collect.collect()
    assert set(store.identifiers()) == {tailored.id, new.id}
    assert collect.collect() == []
    assert collect.collect(everything=True)
    assert store.identifiers() == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda tree: (tree / "Kconfig").unlink(), "is not a Linux kernel source"),
        (lambda tree: (tree / "Makefile").write_text("all:\n"), "names no kernel version"),
        (lambda tree: (tree / ".config").write_text(""), "make mrproper"),
    ],
)
def test_a_source_that_is_none_is_refused(
    toy: Any,
    spoil: Callable[[Path], object],
    said: str,
    kadence: Run,
    refused: Callable[..., str],
) -> None:
    spoil(toy.tree)
    assert said in refused(kadence("kernel", "build", "--generic", "--source", toy.tree))


def test_a_cache_that_kbuild_refuses_is_told(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "with space"))
    with pytest.raises(Exception, match="set KADENCE_CACHE to another place"):
        build(BuildRequest(source=toy.tree))


def test_a_missing_tool_is_named_with_its_package(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setattr(commands.shutil, "which", lambda name: None if name == "bison" else name)
    with pytest.raises(Exception, match=r"needs bison; install with: apt-get install bison"):
        build(BuildRequest(source=toy.tree))


def test_a_patch_that_does_not_apply_is_told(
    toy: Any, kadence: Run, refused: Callable[..., str]
) -> None:
    options = toy.tree / "arch/um/Kconfig"
    options.write_text(options.read_text().replace("config HZ", "config TICKS"))
    complaint = refused(
        kadence("kernel", "build", "--generic", "--source", toy.tree, "--hz", "250")
    )
    assert "um-hz-prompt.patch does not apply to this source" in complaint
    assert nothing_is_left()
