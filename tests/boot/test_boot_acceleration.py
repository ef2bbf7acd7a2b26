# SPDX-License-Identifier: GPL-2.0-or-later
"""Kadence uses KVM only if a kernel booted with it; the cache remembers the result."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence.boot import acceleration


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache of this test alone."""
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path))
    return tmp_path / "acceleration.json"


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A /dev/kvm that opens."""
    path = tmp_path / "kvm"
    path.touch()
    monkeypatch.setattr(acceleration, "DEVICE", path)
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Callable[[str], list[str]]:
    """A script in place of QEMU. Each start adds an empty line to the file `starts`."""

    def make(script: str) -> list[str]:
        program = tmp_path / "qemu"
        program.write_text(f"#!/bin/sh\necho >> {tmp_path}/starts\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return [str(program)]

    return make


def test_no_device(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(acceleration, "DEVICE", tmp_path / "none")
    assert acceleration.chosen(["false"], []) == acceleration.TCG
    told = f"kadence: QEMU emulates (TCG), because there is no {tmp_path}/none\n"
    assert capsys.readouterr().err == told


def test_device_that_is_not_open(
    device: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: path != device)
    assert acceleration.chosen(["false"], []) == acceleration.TCG
    assert "is not open to this user" in capsys.readouterr().err


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("script", ["exit 1", "echo nothing of use", "exec sleep 60"])
def test_device_that_can_run_no_kernel(
    script: str,
    machine: Callable[[str], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(acceleration, "PROBE_SECONDS", 0.5)
    assert acceleration.chosen(machine(script), []) == acceleration.TCG
    assert "answers but can't run a kernel" in capsys.readouterr().err


@pytest.mark.usefixtures("device")
def test_device_that_works_is_asked_once(
    machine: Callable[[str], list[str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = machine("echo '[ 0.1] kadence: probe'")
    assert [acceleration.chosen(words, []) for _ in range(2)] == [acceleration.KVM] * 2
    assert acceleration.remembered() == acceleration.KVM
    assert (tmp_path / "starts").read_text() == "\n"
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("device")
def test_other_machine_is_asked_anew(
    machine: Callable[[str], list[str]], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acceleration.chosen(machine("exit 1"), [])
    monkeypatch.setattr(acceleration, "processor", lambda: "another")
    assert acceleration.chosen(machine("echo kadence: probe"), []) == acceleration.KVM
    assert sorted(json.loads(cache.read_text()).values()) == ["kvm", "tcg"]


@pytest.mark.usefixtures("device")
def test_damaged_memory_is_no_answer(machine: Callable[[str], list[str]], cache: Path) -> None:
    cache.write_text("{")
    assert acceleration.chosen(machine("echo kadence: probe"), []) == acceleration.KVM
