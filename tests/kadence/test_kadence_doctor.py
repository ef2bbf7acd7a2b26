# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence doctor` starts guests, and says what keeps them from starting."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import GuestError
from kadence.boot import host
from kadence.prediction import machine

CONFINED = Path(__file__).resolve().parent.parent / "boot/confined.py"
GUEST = re.compile(
    r"um: a guest started in \d+\.\d\d s \((\d+) processors?, register state ([\d,]+) bytes\)"
)


def _doctor(*before: str) -> "subprocess.CompletedProcess[str]":
    """Run `kadence doctor`; it may not build, so kernels missing in the store are not tried."""
    command = [*before, str(Path(sys.executable).parent / "kadence"), "doctor", "--no-build"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def _line(said: str, beginning: str) -> str:
    return next(line for line in said.splitlines() if line[9:].startswith(beginning))


@pytest.mark.kernel
def test_guest_of_the_minimal_kernel(minimal_kernel: Any) -> None:
    completed = _doctor()
    line = _line(completed.stdout, "um:")
    match = GUEST.search(line)
    assert match is not None and line.startswith("ok "), completed
    assert int(match[1]) == 1
    assert int(match[2].replace(",", "")) == host.register_bytes()
    assert line.endswith(f"(minimal kernel {minimal_kernel.id})")


@pytest.mark.kernel
@pytest.mark.usefixtures("minimal_kernel")
def test_guest_on_one_processor() -> None:
    completed = _doctor("taskset", "-c", str(min(os.sched_getaffinity(0))))
    assert GUEST.search(completed.stdout) and completed.returncode == 0
    assert "ok       1 processor  (guests run on them" in completed.stdout


@pytest.mark.kernel
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_guest_of_another_user(minimal_kernel: Any) -> None:
    """The user has a private store with the same kernel."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as home:
        kernels = Path(home) / "kernels"
        kernels.mkdir()
        subprocess.run(["cp", "-r", minimal_kernel.path, kernels], check=True)
        subprocess.run(["chown", "-R", "54321:54321", home], check=True)
        before = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "env"]
        completed = _doctor(*before, f"KADENCE_CACHE={home}", f"HOME={home}")
    assert GUEST.search(completed.stdout), completed


def test_what_forbids_guests_is_named() -> None:
    completed = _doctor(sys.executable, str(CONFINED), "EPERM", "ptrace", "--")
    line = _line(completed.stdout, "um:")
    assert completed.returncode == 1 and line.startswith("MISSING")
    assert "(User-Mode Linux can't trace its programs: a seccomp filter of " in line
    assert "Traceback" not in completed.stderr


def test_without_a_kernel_a_guest_is_untried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path))
    completed = _doctor()
    assert _line(completed.stdout, "um:").startswith("untried")
    assert "do: kadence kernel build --minimal --target um" in completed.stdout
    assert completed.stdout.splitlines()[-1].endswith(" 2 not tried.")


def test_what_is_lacking_for_a_build_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    first, second = machine.guests(build=True)
    assert not first.present and "apt-get install" in first.why
    assert not second.present and second.remedy == "apt-get install qemu-system-x86"


def test_processors_that_are_off(tmp_path: Path) -> None:
    (tmp_path / "smt").mkdir()
    (tmp_path / "smt/control").write_text("off\n")
    (tmp_path / "offline").write_text("2-3\n")
    finding = machine.processors(tmp_path)
    assert finding.present and finding.why.endswith("; 2-3 offline; SMT off")


def test_guest_that_complains_is_no_guest_that_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    used: dict[str, Any] = dict.fromkeys(boot.Result.__dataclass_fields__, 0)
    result = boot.Result(**(used | {"log": "BUG: sleeping function\n"}))
    monkeypatch.setattr(boot, "run", lambda request: result)

    class Kernel:
        id, kind, target, image = "0", "minimal", "um", tmp_path

    with pytest.raises(GuestError, match="of kernel 0 started, but BUG: sleeping"):
        machine._started(Kernel())  # type: ignore[arg-type]
