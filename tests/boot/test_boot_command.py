# SPDX-License-Identifier: GPL-2.0-or-later
"""The command runs as if the caller had run it, and the caller gets its exit status."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import KadenceError

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("status", [0, 3, 255])
def test_exit_status_is_the_commands(guest: Any, status: int) -> None:
    ran = guest("sh", "-c", f"exit {status}")
    assert (ran.result.status, ran.result.signal) == (status, None)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_death_by_signal_is_told(guest: Any, number: int) -> None:
    ran = guest("sh", "-c", f"kill -{number} $$")
    assert (ran.result.status, ran.result.signal) == (128 + number, number)


def test_command_that_does_not_exist(guest: Any) -> None:
    ran = guest("no-such-command")
    assert ran.result.status == 127
    assert b"no-such-command: No such file" in ran.stderr


def test_command_that_is_no_program(guest: Any) -> None:
    ran = guest("/etc/passwd")
    assert ran.result.status == 126
    assert b"/etc/passwd: Permission denied" in ran.stderr


def test_guests_at_one_time_number_their_processes_differently(
    kadence: Any, generic_kernel: Any, tmp_path: Path
) -> None:
    """Their files are the machine's, and programs name files by these numbers."""
    script = "sh -c 'echo $$ $PPID'; touch {}; until [ -e {} ]; do sleep 0.1; done"
    first, second = tmp_path / "first", tmp_path / "second"

    def numbers(own: Path, other: Path) -> list[str]:
        words = ["--kernel", generic_kernel.id, "--", "sh", "-c", script.format(own, other)]
        ran = kadence("run", *words)
        assert ran.returncode == 0, ran.stderr
        return str(ran.stdout).split()

    with ThreadPoolExecutor(2) as pool:
        found = pool.map(numbers, (first, second), (second, first))
        of_first, of_second = (set(one) for one in found)
    assert len(of_first) == len(of_second) == 2
    assert not of_first & of_second
    assert min(map(int, of_first | of_second)) >= 300


def test_usage_is_that_of_the_command_and_its_children(guest: Any) -> None:
    """Five sleeps make at least five voluntary switches; touching 48 MiB makes 12288 faults."""
    program = "import time; a = bytearray(48 << 20)\nfor i in range(5): time.sleep(0.01)"
    ran = guest("sh", "-c", f"{sys.executable} -c '{program}'; exit 0")
    assert ran.result.status == 0, ran.stderr
    assert ran.result.voluntary_switches >= 5
    assert ran.result.minor_faults + ran.result.major_faults >= 12288
    assert 48 << 20 <= ran.result.max_resident_bytes <= 256 << 20
    assert 0 < ran.result.user_seconds + ran.result.system_seconds <= ran.result.wall_seconds * 1.1
    assert ran.result.boot_seconds > 0


def test_log_is_that_of_the_whole_guest(guest: Any) -> None:
    log = guest("true").result.log
    assert "Linux version" in log
    assert "reboot: " in log  # power down, or a restart, at which QEMU ends


def test_arguments_and_environment_pass_unchanged(guest: Any) -> None:
    odd = "two words\nand a line, \udcff\udc81, 'quotes\", $HOME"
    program = (
        "import os, sys; words = [*sys.argv[1:], os.environ['ODD']]; "
        "os.write(1, b'\\0'.join(map(os.fsencode, words)))"
    )
    environment = {"ODD": odd, "PATH": os.environ["PATH"]}
    ran = guest(sys.executable, "-c", program, "", odd, environment=environment)
    assert ran.stdout.split(b"\0") == [b"", os.fsencode(odd), os.fsencode(odd)]


def test_environment_is_exactly_the_callers(guest: Any) -> None:
    ran = guest("/usr/bin/env", "-0", environment={"ONE": "1", "LD_BIND_NOW": ""})
    assert sorted(ran.stdout.split(b"\0")) == [b"", b"LD_BIND_NOW=", b"ONE=1"]


def test_a_megabyte_of_arguments(guest: Any) -> None:
    words = ["x" * 100_000] * 10
    assert guest("sh", "-c", 'printf %s "$@" | wc -c', "sh", *words).stdout == b"1000000\n"


def test_directory_with_odd_name(guest: Any, tmp_path: Path) -> None:
    directory = tmp_path / 'with space, "quotes" and ü'
    directory.mkdir()
    ran = guest("sh", "-c", "pwd -P; echo made > here", directory=directory)
    assert ran.stdout == os.fsencode(directory) + b"\n"
    assert (directory / "here").read_text() == "made\n"


def test_shared_memory_files_are_the_hosts(guest: Any) -> None:
    with Path("/dev/shm/kadence-test-boot").open("w") as file:
        file.write("staged")
    try:
        assert guest("cat", file.name).stdout == b"staged"
    finally:
        Path(file.name).unlink()


def test_umask_limits_and_ignored_signals_are_the_callers(guest: Any, tmp_path: Path) -> None:
    umask = os.umask(0o027)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    handler = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        ran = guest(
            "sh", "-c", "umask; ulimit -n; touch made; kill -USR1 $$; echo alive",
            directory=tmp_path,
        )  # fmt: skip
    finally:
        os.umask(umask)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        signal.signal(signal.SIGUSR1, handler)
    assert ran.stdout.split() == [b"0027", b"256", b"alive"]
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o640


def copied_command(root: Path, own: Path) -> list[str]:
    """Copy the `kadence` command to `own`, where every user can read it; returns its words."""
    shutil.copytree(root / "kadence", own / "site/kadence")
    stages = {"base": "base", "boot": "boot", "kconfig-gen": "kconfig", "kadapt": "kadapt"}
    for stage, package in stages.items():
        shutil.copytree(root / stage, own / "site/kadence" / package)
    shutil.copytree(root / "build/boot", own / "build/boot")
    settings = [f"PYTHONPATH={own}/site", f"KADENCE_HOME={own}", f"KADENCE_CACHE={own}/cache"]
    return ["env", *settings, "/usr/bin/python3", "-m", "kadence.cli"]


def test_needs_no_privilege(root: Path, command: list[str], image: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("already run without privilege: all other tests here show it")
    # Not below /dev, where the guest mounts its own file system before it starts init.
    own = Path(tempfile.mkdtemp(dir="/var/tmp"))
    own.chmod(0o755)
    arguments = command[command.index("run") :]
    kernel = own / "kernel"
    shutil.copyfile(image, kernel)
    kernel.chmod(0o755)
    os.chown(own, 65534, 65534)
    arguments[arguments.index("--kernel") + 1] = str(kernel)
    script = "id -u; id -g; id -G; touch made; cat /etc/shadow"
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    try:
        ran = subprocess.run(
            [*drop, *copied_command(root, own), *arguments, "sh", "-c", script],
            cwd=own,
            capture_output=True,
            timeout=300,
        )
        assert ran.stdout.split() == [b"65534"] * 3, ran.stderr
        assert b"Permission denied" in ran.stderr
        assert (own / "made").stat().st_uid == 65534
    finally:
        shutil.rmtree(own)


def test_loopback_name_and_devices(guest: Any) -> None:
    program = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); "
        "c = socket.create_connection(s.getsockname()); print(socket.gethostname())"
    )
    script = f'{sys.executable} -c "{program}"; head -c 8 /dev/urandom | wc -c; : > /dev/null'
    ran = guest("sh", "-ec", script)
    assert ran.stdout.decode().split() == [os.uname().nodename, "8"], ran.stderr


def test_what_is_left_running_ends_with_the_command(guest: Any) -> None:
    assert guest("sh", "-c", "sleep 1000 & echo started").stdout == b"started\n"


def test_what_still_writes_is_waited_for(guest: Any) -> None:
    ran = guest("bash", "-c", "echo late > >(sleep 0.3; cat)")
    assert ran.stdout == b"late\n"


def test_two_guests_at_once(started: Any) -> None:
    one, two = (started("sh", "-c", f"read line; echo $line {i}") for i in (1, 2))
    assert two.communicate(b"to\n")[0] == b"to 2\n"
    assert one.communicate(b"to\n")[0] == b"to 1\n"


def test_nothing_to_run_is_refused(image: Path) -> None:
    for argv in ([], ["a\0b"]):
        with pytest.raises(KadenceError):
            boot.run(boot.Request(image, argv))


def test_no_such_directory_is_refused(image: Path, tmp_path: Path) -> None:
    with pytest.raises(KadenceError, match="none: No such file"):
        boot.run(boot.Request(image, ["true"], directory=tmp_path / "none"))


def test_the_file_may_be_another_than_the_first_argument_says(guest: Any) -> None:
    ran = guest(
        "said", "-c", 'echo "$0"; tr "\\0" "\\n" < /proc/$$/cmdline', file=Path("/bin/bash")
    )
    assert ran.stdout.splitlines()[:2] == [b"said", b"said"]
