# SPDX-License-Identifier: GPL-2.0-or-later
"""What `kadence run` does if a tailored kernel lacks what the command needs."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base import codec
from kadence.base.errors import GuestError, KadenceError
from kadence.kconfig.request.needs import Needs
from kadence.kernel import fallback

LACKING = "kadence: p made system call 425, which this kernel lacks\n"
UNUSED = dict.fromkeys(boot.Result.__dataclass_fields__, 0) | {"signal": None, "log": ""}
TAILORED, GENERIC = Path("/tailored"), Path("/generic")


def result(**known: Any) -> boot.Result:
    return boot.Result(**(UNUSED | known))


class Guests:
    """A guest reads its input, writes the kernel's name to its output, and ends as told."""

    def __init__(self, first: boot.Result | KadenceError) -> None:
        self.first = first
        self.images: list[Path] = []
        self.read: list[bytes] = []

    def run(self, request: boot.Request, *, stand_in: bool) -> boot.Result:
        assert stand_in
        self.images.append(request.image)
        self.read.append(os.read(request.stdin, 100))
        os.write(request.stdout, request.image.name.encode())
        if request.image == GENERIC:
            return result(status=0)
        # Like a stand-in, the guest gives up the streams.
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, request.stdin)
        os.dup2(nothing, request.stdout)
        if isinstance(self.first, KadenceError):
            raise self.first
        return self.first


Start = Callable[..., Guests]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    def make(first: boot.Result | KadenceError) -> Guests:
        guests = Guests(first)
        monkeypatch.setattr(fallback, "run", guests.run)
        return guests

    return make


@contextmanager
def request(tmp_path: Path) -> Iterator[boot.Request]:
    """A request with files as streams, which are partly read and written already."""
    with (tmp_path / "in").open("w+b") as stdin, (tmp_path / "out").open("w+b") as stdout:
        stdin.write(b"skipped input")
        stdin.flush()
        stdin.seek(8)
        stdout.write(b"before ")
        stdout.flush()
        streams = {"stdin": stdin.fileno(), "stdout": stdout.fileno()}
        yield boot.Request(TAILORED, ["p"], **streams)


def test_a_run_that_succeeds_is_not_run_again(start: Start, tmp_path: Path) -> None:
    guests = start(result(status=0, log=LACKING))
    with request(tmp_path) as asked:
        assert fallback.run_or_fall_back(asked, GENERIC).status == 0
    assert guests.images == [TAILORED]


@pytest.mark.parametrize(
    "first",
    [result(status=1, log=LACKING), result(status=134, signal=signal.SIGABRT, log=LACKING),
     GuestError("the guest panicked", log_place="its log is /x")],
)  # fmt: skip
def test_the_second_run_is_as_if_the_first_had_not_been(
    first: Any, start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guests = start(first)
    with request(tmp_path) as asked:
        assert fallback.run_or_fall_back(asked, GENERIC).status == 0
    assert guests.images == [TAILORED, GENERIC]
    assert guests.read == [b"input", b"input"]
    assert (tmp_path / "out").read_bytes() == b"before generic"
    [said] = capsys.readouterr().err.splitlines()
    assert said.endswith("; running again on the generic kernel")
    assert "CONFIG_IO_URING would give it" in said or "the guest panicked" in said


@pytest.mark.parametrize(
    "first",
    [
        result(status=1),
        result(status=130, signal=signal.SIGINT, log=LACKING),
        result(status=1, log=LACKING.replace("425", "334")),
    ],
)
def test_what_is_not_the_kernel_s_fault_is_not_run_again(
    first: boot.Result, start: Start, tmp_path: Path
) -> None:
    guests = start(first)
    with request(tmp_path) as asked:
        assert fallback.run_or_fall_back(asked, GENERIC) == first
    assert guests.images == [TAILORED]


def test_a_pipe_can_t_be_read_twice(start: Start, tmp_path: Path) -> None:
    guests = start(result(status=0))
    reading, writing = os.pipe()
    with request(tmp_path) as asked, pytest.raises(KadenceError, match="can be read only once"):
        fallback.run_or_fall_back(replace(asked, stdin=reading), GENERIC)
    os.close(reading)
    os.close(writing)
    assert guests.images == []


def test_falling_back_from_the_generic_kernel_is_refused(kadence: Any, refused: Any) -> None:
    assert "already the first choice" in refused(kadence("run", "--fallback", "--", "true"))


OPEN_QUEUE = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
used = libc.syscall(240, b"kadence-test", 0o102, 0o600, None)
print("queue" if used >= 0 else "none", sys.stdin.read())
sys.exit(used < 0)
"""


@pytest.fixture(scope="module")
def small_kernel(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A kernel in the real store, tailored to a program that uses almost nothing."""
    import json

    from kadence.kconfig.store.build import BuildRequest, build

    needs = codec.encode(Needs(system_calls=frozenset({"read"})))
    envelope = {"schema": "kadence.plan", "version": 6, "kadence": "0", "build_id": None}
    plan = tmp_path_factory.mktemp("plan") / "p.plan.json"
    plan.write_text(json.dumps(envelope | {"command": [], "program": ["x"], "needs": needs}))
    return build(BuildRequest(kind="tailored", plan=plan))


def run_it(kadence: Any, kernel: Any, place: Path, *options: str) -> Any:
    (place / "in").write_text("input")
    command = ["run", "--kernel", kernel.id, *options, "--", "/usr/bin/python3", "-c", OPEN_QUEUE]
    with (place / "in").open() as stdin:
        completed: subprocess.CompletedProcess[str] = kadence(*command, stdin=stdin)
    return completed


@pytest.mark.kernel
def test_a_missing_call_is_named_with_its_option(
    kadence: Any, small_kernel: Any, tmp_path: Path
) -> None:
    completed = run_it(kadence, small_kernel, tmp_path)
    assert (completed.returncode, completed.stdout) == (1, "none input\n")
    assert completed.stderr == (
        "kadence: python3 asked for mq_open, which this kernel lacks; CONFIG_POSIX_MQUEUE would "
        "give it: tailor with this input, or rerun with --fallback\n"
    )


@pytest.mark.kernel
def test_fallback_runs_it_on_the_generic_kernel(
    kadence: Any, small_kernel: Any, generic_kernel: Any, tmp_path: Path
) -> None:
    del generic_kernel  # the test only needs it in the store
    with (tmp_path / "out").open("w+") as out:
        (tmp_path / "in").write_text("input")
        completed = kadence(
            "run", "--kernel", small_kernel.id, "--fallback", "--",
            "/usr/bin/python3", "-c", OPEN_QUEUE,
            capture_output=False, stdin=(tmp_path / "in").open(), stdout=out,
            stderr=subprocess.PIPE,
        )  # fmt: skip
    assert completed.returncode == 0
    assert (tmp_path / "out").read_text() == "queue input\n"
    assert completed.stderr == (
        "kadence: python3 asked for mq_open, which this kernel lacks; CONFIG_POSIX_MQUEUE would "
        "give it; running again on the generic kernel\n"
    )


@pytest.mark.kernel
def test_what_a_successful_run_lacked_is_not_told(
    kadence: Any, small_kernel: Any, tmp_path: Path
) -> None:
    completed = kadence(
        "run", "--kernel", small_kernel.id, "--", "/usr/bin/python3", "-c",
        OPEN_QUEUE.replace("used < 0", "0"), stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "none \n", "")
