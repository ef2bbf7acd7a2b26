# SPDX-License-Identifier: GPL-2.0-or-later
"""Kadence refuses, in one sentence, what cannot be a guest. These tests need no kernel."""

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import GuestError, KadenceError, UsageError
from kadence.boot import memory

from .conftest import processes_of

MIB = 1 << 20


def _script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_program_that_is_no_kernel() -> None:
    with pytest.raises(GuestError, match=r"/bin/false ended \(status 1\) before it started"):
        boot.run(boot.Request(Path("/bin/false"), ["true"]))


def test_text_that_is_no_program(tmp_path: Path) -> None:
    image = _script(tmp_path / "text", "no program\n")
    with pytest.raises(GuestError, match="cannot be executed"):
        boot.run(boot.Request(image, ["true"]))


def test_file_that_may_not_be_executed() -> None:
    with pytest.raises(GuestError, match="is not executable"):
        boot.run(boot.Request(Path("/etc/passwd"), ["true"]))


def test_kernel_that_does_not_boot(tmp_path: Path) -> None:
    image = _script(tmp_path / "kernel", "#!/bin/sh\necho booting\nsleep 1000 & sleep 1000\n")
    request = boot.Request(image, ["true"], boot_timeout_seconds=0.5)
    with pytest.raises(GuestError, match=r'within 0.5 s, its last words being "booting"; '):
        boot.run(request)
    assert processes_of(image) == []


def test_kernel_without_the_drivers(tmp_path: Path) -> None:
    text = "#!/bin/sh\necho kadence: /dev/mmapper: No such file or directory\n"
    with pytest.raises(
        GuestError, match="lacks a driver that boot/needs-um.toml lists, that of /dev/mm"
    ):
        boot.run(boot.Request(_script(tmp_path / "kernel", text), ["true"]))


def test_current_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="in the current directory: No such file"):
        boot.run(boot.Request(Path("/bin/false"), ["true"]))


def test_kernel_that_is_not_there(kadence: Callable[..., Any], refused: Callable[..., str]) -> None:
    assert "no kernel at" in refused(kadence("run", "--kernel", "/no/kernel", "--", "true"))


def test_no_command(kadence: Callable[..., Any], refused: Callable[..., str]) -> None:
    assert "no command" in refused(kadence("run", "--kernel", "/bin/false"))


@pytest.mark.parametrize("size", ["", "x", "-1M", "1.5G", "64Q"])
def test_sizes_that_are_none(size: str) -> None:
    with pytest.raises(UsageError, match="is not a size"):
        memory.parse_size(size)


@pytest.mark.parametrize(
    ("size", "expected"), [("0", 0), ("512M", 512 * MIB), ("2g", 2048 * MIB), ("1GiB", 1024 * MIB)]
)
def test_sizes(size: str, expected: int) -> None:
    assert memory.parse_size(size) == expected


def test_too_little_memory_asked_for(
    kadence: Callable[..., Any], refused: Callable[..., str]
) -> None:
    complaint = refused(kadence("run", "--kernel", "/bin/false", "--mem", "10M", "--", "true"))
    assert "at least 64 MiB" in complaint


def test_more_memory_than_there_is() -> None:
    with pytest.raises(UsageError, match="this machine's free memory allows"):
        memory.choose(1 << 50)


def test_file_system_too_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KADENCE_MEMORY_DIRECTORY", str(tmp_path))
    monkeypatch.setattr(memory, "_free_bytes", lambda directory: 100 * MIB)
    with pytest.raises(UsageError, match=f"does not fit {tmp_path}, which has 100 MiB free"):
        memory.choose(128 * MIB)
    assert memory.choose(None) == memory.Memory(100 * MIB, tmp_path)


def test_directory_that_cannot_hold_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KADENCE_MEMORY_DIRECTORY", "/proc")
    with pytest.raises(UsageError, match="does not fit /proc, which "):
        memory.choose(128 * MIB)


def test_limits_of_the_caller_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200 * MIB, limits[1]))
    try:
        assert memory.choose(None).size_bytes == 200 * MIB
        with pytest.raises(UsageError, match="file sizes"):
            memory.choose(201 * MIB)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_memory_cgroup_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A group with a limit of 300 MiB, 100 of them used, inside a group without a limit."""
    inner = tmp_path / "inner"
    inner.mkdir()
    for group, limit in ((tmp_path, "max"), (inner, str(300 * MIB))):
        (group / "memory.max").write_text(f"{limit}\n")
        (group / "memory.current").write_text(f"{100 * MIB}\n")
    monkeypatch.setattr(memory, "_memory_cgroups", lambda: iter([inner, tmp_path]))
    assert memory.choose(None).size_bytes == 100 * MIB
    with pytest.raises(UsageError, match="memory cgroup allows 200 MiB"):
        memory.choose(201 * MIB)


def test_complaints_of_a_kernel_are_found() -> None:
    log = "Booting\nBUG: sleeping function\ninit: a warning: none\nKernel panic - not syncing: x\n"
    assert boot.complaints(log) == ["BUG: sleeping function", "Kernel panic - not syncing: x"]


def test_errors_are_kadence_errors() -> None:
    assert issubclass(GuestError, KadenceError)
    assert GuestError.exit_status == 125
