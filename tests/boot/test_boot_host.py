# SPDX-License-Identifier: GPL-2.0-or-later
"""The probe finds out what the machine forbids; each test forbids it for one process only."""

import errno
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.base.errors import GuestError, UsageError
from kadence.boot import clock, host, memory
from kadence.boot.host import Answer

CONFINED = Path(__file__).with_name("confined.py")
NOBODY = 54321  # a user without processes here
# A program that prints the machine's obstacle to a target as JSON.
ASK = "import json; from kadence.boot import host; print(json.dumps(str(host.obstacle('{}'))))"
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount and become another")


def _obstacle(target: str, *before: str) -> str:
    """The obstacle that a Python finds; the words `before` start it."""
    command = [*before, sys.executable, "-c", ASK.format(target)]
    completed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    return str(json.loads(completed.stdout))


def _confined(*words: str) -> list[str]:
    return [sys.executable, str(CONFINED), *words, "--"]


def _mounted(script: str) -> list[str]:
    return ["unshare", "-m", "sh", "-c", f'{script}; exec "$@"', "sh"]


@pytest.mark.parametrize("target", ["um", "x86_64"])
def test_this_machine_starts_guests(target: str) -> None:
    assert host.obstacle(target) is None


@pytest.mark.parametrize("answer", ["EPERM", "ENOSYS", "KILL"])
def test_filter_against_tracing(answer: str) -> None:
    """As in Docker's default profile before Linux 4.8, in gVisor, and at strict sites."""
    said = _obstacle("um", *_confined(answer, "ptrace"))
    assert said.startswith("User-Mode Linux can't trace its programs: a seccomp filter of ")
    assert _obstacle("x86_64", *_confined(answer, "ptrace")) == "None"


@pytest.mark.parametrize(
    ("call", "does"),
    [
        ("timer_create", "User-Mode Linux can't have its clock"),
        ("memfd_create", "the memory shared with a guest can't be opened"),
    ],
)
def test_filter_against_other_calls(call: str, does: str) -> None:
    assert f"{does}: a seccomp filter of" in _obstacle("um", *_confined("EPERM", call))


def test_filter_that_no_guest_minds() -> None:
    """Docker's default profile refuses personality(), which keeps the heap at a fixed address."""
    assert _obstacle("um", *_confined("EPERM", "personality")) == "None"


@root_only
def test_limit_on_processes() -> None:
    command = host.probe(["processes"], Path("/tmp"))
    before = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    ran = subprocess.run(
        [*before, "prlimit", "--nproc=6", *command], capture_output=True, text=True, check=True
    )
    (answer,) = host.parse(ran.stdout)
    assert (answer.error, answer.step) == (errno.EAGAIN, "clone")
    # The probe and its check's process are two of the six.
    assert answer.count == 4
    assert "only 4 can be started" in host.explain(answer, Path("/tmp")).sentence


@root_only
@pytest.mark.parametrize(
    "script",
    ["mount -t tmpfs -o noexec t /dev/shm", "mount -t tmpfs -o size=1M t /dev/shm"],
    ids=["noexec", "full"],
)
def test_guests_without_dev_shm_have_their_memory_elsewhere(script: str) -> None:
    """Docker mounts a /dev/shm of 64 MiB with noexec."""
    assert _obstacle("um", *_mounted(script)) == "None"


@root_only
def test_no_place_for_memory_is_named_with_the_reason(tmp_path: Path) -> None:
    script = f"mount -t tmpfs -o noexec t /dev/shm; mount -t tmpfs -o size=1M t {tmp_path}"
    command = [*_mounted(script), sys.executable, "-c", ASK.format("um")]
    environment = dict(os.environ) | {"TMPDIR": str(tmp_path)}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert f"/dev/shm, which is mounted noexec, or {tmp_path}, which has 1 MiB free" in ran.stderr


@root_only
def test_file_that_must_not_be_executed() -> None:
    """The probe finds this, too."""
    command = host.probe(["file"], Path("/dev/shm"))
    mounted = _mounted("mount -t tmpfs -o noexec t /dev/shm")
    ran = subprocess.run([*mounted, *command], capture_output=True, text=True, check=True)
    (answer,) = host.parse(ran.stdout)
    assert (answer.error, answer.step) == (errno.EPERM, "executing from the file behind its memory")


def test_size_of_the_registers_is_the_processors() -> None:
    """The kernel reports the bytes that XSAVE stores for all enabled registers (from Linux 5.x)."""
    flags = Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split()
    found = host.register_bytes()
    assert found is not None
    # Legacy area and header, the upper halves for AVX, AVX-512's registers, and tiles.
    least = (
        576 + 256 * ("avx" in flags) + 1600 * ("avx512f" in flags) + 8192 * ("amx_tile" in flags)
    )
    assert least <= found <= 1 << 16


@pytest.fixture
def machine(tmp_path: Path) -> Callable[..., Path]:
    """Make the files in /proc, /sys etc. of another machine; returns their root."""

    def make(**files: str) -> Path:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


YAMA = "proc__sys__kernel__yama__ptrace_scope"
CURRENT = "proc__self__attr__current"
STATUS = "proc__self__status"
FILTERED = "Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n"


@pytest.mark.parametrize(
    ("check", "error", "files", "says", "remedy"),
    [
        ("trace", errno.EPERM, {YAMA: "3\n"}, "ptrace_scope is 3, which forbids", "boot"),
        ("trace", errno.EPERM, {YAMA: "2\n"}, "ptrace_scope is 2, which allows", "sysctl"),
        ("trace", errno.EPERM, {YAMA: "1\n", STATUS: FILTERED}, "a seccomp filter", "filter"),
        ("trace", errno.EPERM, {".dockerenv": "", STATUS: FILTERED}, "of Docker", "seccomp="),
        ("trace", errno.EPERM, {"run__.containerenv": "", STATUS: FILTERED}, "of Podman", "secc"),
        ("trace", errno.EPERM, {".singularity.d__x": "", STATUS: FILTERED}, "Apptainer", "admin"),
        ("trace", errno.EACCES, {"sys__fs__selinux__enforce": "1"}, "SELinux", "ausearch"),
        ("code", errno.EACCES, {"sys__fs__selinux__enforce": "1"}, "SELinux", "ausearch"),
        ("trace", errno.EACCES, {CURRENT: "docker-default (enforce)\n"}, "docker-default", "-g"),
        ("mappings", errno.ENOMEM, {"proc__sys__vm__max_map_count": "900\n"}, "is 900", "65530"),
        ("address", errno.EPERM, {"proc__sys__vm__mmap_min_addr": "2097152"}, "min_addr", "655"),
        ("private", errno.ENOMEM, {"proc__sys__vm__overcommit_memory": "2\n"}, "is 2", "sysctl"),
        ("processes", errno.EAGAIN, {}, "only 7 can be started", "limit"),
        ("proc", errno.ENOENT, {}, "/proc is not mounted", "mount"),
    ],
)
def test_causes_are_named(
    machine: Callable[..., Path],
    check: str,
    error: int,
    files: dict[str, str],
    says: str,
    remedy: str,
) -> None:
    found = host.explain(Answer(check, error, 7, "a step"), Path("/"), machine(**files))
    assert says in found.sentence
    assert remedy in found.remedy


@pytest.mark.parametrize(
    "files",
    [
        {YAMA: "1\n"},
        {CURRENT: "unconfined\n"},
        {CURRENT: "docker-default (complain)\n"},
        {"sys__fs__selinux__enforce": "0"},
        {STATUS: "Seccomp:\t0\n", ".dockerenv": ""},
    ],
)
def test_what_allows_it_is_not_blamed(machine: Callable[..., Path], files: dict[str, str]) -> None:
    found = host.explain(
        Answer("trace", errno.EPERM, 0, "PTRACE_ATTACH"), Path("/"), machine(**files)
    )
    assert found.sentence.endswith("trace its programs: PTRACE_ATTACH: Operation not permitted")
    assert found.remedy == ""


def test_every_check_is_one_of_the_probes() -> None:
    table = tomllib.loads(host.TABLE.read_text())
    names = [row["name"] for row in table["check"]]
    assert [answer.check for answer in host.ask(names, Path("/dev/shm"))] == names
    assert {check for row in table["cause"] for check in row.get("checks", [])} <= set(names)


def test_the_counter_is_measured_as_the_clock_runs() -> None:
    """Compared with a simple measurement: two readings, half a second apart."""
    program = (
        "#include <stdio.h>\n#include <time.h>\n#include <unistd.h>\n#include <x86intrin.h>\n"
        "int main(void) { struct timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a);"
        "unsigned long long begin = __rdtsc(); usleep(500000); unsigned long long end = __rdtsc();"
        "clock_gettime(CLOCK_MONOTONIC, &b);"
        "double ms = (b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) / 1e6;"
        'printf("%f", (end - begin) / ms); }'
    )
    with tempfile.TemporaryDirectory() as folder:
        command = ["gcc-12", "-O2", "-x", "c", "-", "-o", f"{folder}/clock"]
        subprocess.run(command, input=program.encode(), check=True)
        told = float(subprocess.run([f"{folder}/clock"], capture_output=True, check=True).stdout)
    assert abs(clock.counter_khz() / told - 1) < 0.05


def test_a_check_that_is_none() -> None:
    ran = subprocess.run(host.probe(["magic"], Path("/")), capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, b"")
    assert ran.stderr == b"kadence-probe: there is no check magic\n"


def test_the_usual_target_comes_first_and_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert host.choose(None) == "um"
    assert capsys.readouterr().err == ""
    host.find(None).tell()
    assert capsys.readouterr().err == "kadence: target um, the first that works here\n"


def _run(before: list[str], *words: str) -> Any:
    program = Path(sys.executable).parent / "kadence"
    command = [*before, str(program), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_another_target_is_chosen_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel store is empty, so the command ends without a guest."""
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path))
    ran = _run(_confined("EPERM", "ptrace"), "run", "--", "true")
    first, second = ran.stderr.splitlines()
    assert first.startswith("kadence: target x86_64, because User-Mode Linux can't trace its prog")
    assert "kernel build --generic --target x86_64" in second


def test_a_target_that_cannot_work_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "cache"))
    heat = str(root / "examples/heat")
    words = ["specialize", "--target", "um", heat, "-o", str(tmp_path / "out")]
    ran = _run(_confined("EPERM", "ptrace"), *words)
    assert ran.returncode == GuestError.exit_status
    (line,) = ran.stderr.splitlines()
    assert line.startswith("kadence: no guest starts on this machine: User-Mode Linux can't trace")
    assert list(tmp_path.iterdir()) == []


def test_no_target_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "obstacle", lambda target: host.Obstacle("x", "it is forbidden", ""))
    with pytest.raises(GuestError, match=r"machine: it is forbidden$"):
        host.choose(None)


def test_unknown_target() -> None:
    with pytest.raises(UsageError, match="'vax' is not known; choose from um, x86_64"):
        host.choose("vax")


def test_without_qemu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = host.obstacle("x86_64")
    assert found is not None and found.remedy == "apt-get install qemu-system-x86"


def test_place_of_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KADENCE_MEMORY_DIRECTORY", str(tmp_path))
    assert memory.place() == (tmp_path, None)
