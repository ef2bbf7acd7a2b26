# SPDX-License-Identifier: GPL-2.0-or-later
"""Each stream that is a terminal on the host is a terminal in the guest."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from .conftest import keeper_of, relay_of, wait_until

pytestmark = pytest.mark.kernel


class Terminal:
    """A pseudo-terminal: both of its ends, and all text that it has shown."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.shown = b""

    def shows(self, text: bytes) -> bool:
        """Whether the terminal shows the text within PATIENCE_SECONDS."""

        def seen() -> bool:
            with suppress(BlockingIOError):
                self.shown += os.read(self.master, 65536)
            return text in self.shown

        found: bool = wait_until(seen)
        return found

    def type(self, text: bytes) -> None:
        os.write(self.master, text)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    os.close(made.master)
    os.close(made.slave)


def _in_session(
    terminal: Terminal, command: list[str], **streams: Any
) -> "subprocess.Popen[bytes]":
    """Run a command in the foreground of the terminal, as a shell would."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.slave) | streams
    if streams["stdin"] == terminal.slave:
        command = ["setsid", "--ctty", "--wait", "sh", "-c", 'exec "$@"', "sh", *command]
    process: subprocess.Popen[bytes] = subprocess.Popen(command, **streams)
    return process


@pytest.mark.parametrize("terminals", [(), (0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_isatty_answers_as_outside(
    command: list[str], terminal: Terminal, terminals: tuple[int, ...], tmp_path: Path
) -> None:
    told = tmp_path / "told"
    names = ("stdin", "stdout", "stderr")
    streams = {
        name: terminal.slave if i in terminals else subprocess.DEVNULL
        for i, name in enumerate(names)
    }
    script = f"for i in 0 1 2; do test -t $i && echo $i >> {told}; done; touch {told}"
    process = _in_session(terminal, [*command, "sh", "-c", script], **streams)
    assert process.wait() == 0
    assert tuple(map(int, told.read_text().split())) == terminals


def test_lines_typed_are_read_and_echoed_once(command: list[str], terminal: Terminal) -> None:
    process = _in_session(terminal, [*command, "sh", "-c", 'read line; echo "got $line"'])
    terminal.type(b"typed\n")
    assert terminal.shows(b"got typed\r\n")
    assert process.wait() == 0
    assert terminal.shown.count(b"typed") == 2 + terminal.shown.count(b"typed\r\ntyped")


def test_interrupt_key_reaches_the_command(command: list[str], terminal: Terminal) -> None:
    script = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.1; done"
    process = _in_session(terminal, [*command, "sh", "-c", script])
    assert terminal.shows(b"ready")
    terminal.type(b"\x03")
    assert terminal.shows(b"caught")
    assert process.wait() == 9


def test_end_of_file_key_ends_the_input(command: list[str], terminal: Terminal) -> None:
    process = _in_session(terminal, [*command, "sh", "-c", "echo ready; cat; echo over"])
    assert terminal.shows(b"ready")
    terminal.type(b"\x04")
    assert terminal.shows(b"over")
    assert process.wait() == 0


def test_window_size_follows(command: list[str], terminal: Terminal) -> None:
    _resize(terminal, 24, 80)
    # A signal before the trap would be lost, so the first size shows that the trap is set.
    script = "trap 'stty size; exit' WINCH; stty size; while :; do sleep 0.1; done"
    process = _in_session(terminal, [*command, "sh", "-c", script])
    assert terminal.shows(b"24 80")
    _resize(terminal, 50, 132)
    assert terminal.shows(b"50 132")
    assert process.wait() == 0


def _resize(terminal: Terminal, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))


@pytest.mark.parametrize("end", ["exit 0", "kill -9 $$"])
def test_settings_are_restored(command: list[str], terminal: Terminal, end: str) -> None:
    before = termios.tcgetattr(terminal.slave)
    process = _in_session(terminal, [*command, "sh", "-c", end])
    process.wait()
    assert termios.tcgetattr(terminal.slave) == before


@pytest.mark.parametrize("killed", [relay_of, keeper_of])
def test_settings_are_restored_after_the_relay_was_killed(
    command: list[str], terminal: Terminal, own_image: Path, killed: Callable[[Path], int]
) -> None:
    before = termios.tcgetattr(terminal.slave)
    process = _in_session(terminal, [*command, "sh", "-c", "echo ready; sleep 1000"])
    assert terminal.shows(b"ready")
    assert termios.tcgetattr(terminal.slave) != before
    os.kill(killed(own_image), signal.SIGKILL)
    assert process.wait() == 125
    assert termios.tcgetattr(terminal.slave) == before
