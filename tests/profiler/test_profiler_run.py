# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile` around the program: endings, standard streams and refusals."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile
from kadence.profiler.run import runner

Compile = Callable[..., Path]
Kadence = Callable[..., Any]
Profiled = Callable[..., Profile]
Refused = Callable[[Any], str]
ADDED_BY_VALGRIND = ("LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBCPP_FORCE_NEW", "GLIBCXX_FORCE_NEW")
KADENCE = Path(sys.executable).parent / "kadence"


def calls_of_body(profile: Profile) -> int:
    counts = profile.counts.sum(axis=0)
    return sum(
        int(counts[index])
        for index, block in enumerate(profile.blocks)
        if block.function == "body" and block.entry
    )


# ---- endings ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "status"),
    [("", 0), ("three", 3), ("abort", 128 + signal.SIGABRT), ("fault", 128 + signal.SIGSEGV)],
)
def test_status_is_passed_on_and_the_profile_is_whole(
    program: Compile, profiled: Profiled, way: str, status: int
) -> None:
    profile = profiled(program("ending.c"), way, status=status)
    assert profile.exit_status == status
    assert calls_of_body(profile) == 1000


def test_a_death_by_signal_is_noted(program: Compile, kadence: Kadence, tmp_path: Path) -> None:
    completed = kadence("profile", "-o", tmp_path / "P", "--", program("ending.c"), "abort")
    assert completed.stderr.count("\n") == 1
    assert "SIGABRT" in completed.stderr


def test_a_killed_program_leaves_its_whole_intervals(program: Compile, profiled: Profiled) -> None:
    profile = profiled(program("ending.c"), "killed", interval=1000, status=128 + signal.SIGKILL)
    assert (profile.instructions <= 1000 + 60).all()
    assert calls_of_body(profile) > 500


def test_children_have_profiles_of_their_own(
    program: Compile, kadence: Kadence, tmp_path: Path
) -> None:
    completed = kadence("profile", "-o", tmp_path / "P.kprof", "--", program("ending.c"), "fork")
    first = kprof.read(tmp_path / "P.kprof")
    assert first.facts.processes == 3
    assert calls_of_body(first) == 1000
    children = sorted(tmp_path.glob("P.*.kprof"))
    assert [calls_of_body(kprof.read(path)) for path in children] == [1, 1]
    lines = completed.stderr.splitlines()
    assert len(lines) == 2
    for path in children:
        (line,) = (line for line in lines if f"{path}, 1 interval" in line)
        assert line.startswith(f"kadence: process {path.name.split('.')[1]} (")


def test_a_program_that_a_process_becomes_has_a_profile_of_its_own(
    program: Compile, kadence: Kadence, tmp_path: Path
) -> None:
    output = tmp_path / "P.kprof"
    completed = kadence("profile", "-o", output, "--", program("ending.c"), "exec")
    assert completed.returncode == 0
    assert "exec" in completed.stderr
    assert calls_of_body(kprof.read(output)) == 1000
    (other,) = tmp_path.glob("P.*.2.kprof")
    assert kprof.read(other).argv == ("/usr/bin/true",)


@pytest.mark.parametrize("how", ["{}", "exec {}"])
def test_a_set_uid_program_runs_as_without_us(kadence: Kadence, tmp_path: Path, how: str) -> None:
    """Valgrind would refuse to run it."""
    program = set_uid(tmp_path)
    output = tmp_path / "P.kprof"
    script = how.format(program) + " && echo ran"
    completed = kadence("profile", "-o", output, "--", "sh", "-c", script)
    assert completed.returncode == 0
    assert f"{program}, which could not be recorded" in completed.stderr.replace(" (exec)", "")
    assert (completed.stdout == "ran\n") == (how == "{}")


def test_a_script_that_starts_scripts(kadence: Kadence, tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text("#!/bin/sh -e\necho inner $1\n")
    outer.write_text(f"#!/bin/sh\n{inner} one\n{inner} two\n")
    inner.chmod(0o755)
    outer.chmod(0o755)
    completed = kadence("profile", "-o", tmp_path / "P.kprof", "--", outer)
    assert completed.stdout == "inner one\ninner two\n"
    found = {kprof.read(path).argv for path in tmp_path.glob("P.*.kprof")}
    assert found == {(str(inner), "one"), (str(inner), "two")}


@pytest.mark.parametrize(
    ("way", "number"), [("terminate", signal.SIGTERM), ("interrupt", signal.SIGINT)]
)
def test_signals_are_passed_on(program: Compile, tmp_path: Path, way: str, number: int) -> None:
    output = tmp_path / "P.kprof"
    with subprocess.Popen(
        [KADENCE, "profile", "-o", output, "--", program("ending.c"), way],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that no terminal sends the signal as well
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait(60) == 7
    assert calls_of_body(kprof.read(output)) == 1000


# ---- streams ---------------------------------------------------------------------------------


def test_streams_are_untouched(kadence: Kadence, tmp_path: Path) -> None:
    data = os.urandom(300_000)
    completed = kadence(
        "profile", "-o", tmp_path / "P", "--", "tee", "/dev/stderr", input=data, text=False
    )
    assert completed.returncode == 0
    assert completed.stdout == data
    assert completed.stderr == data


def test_progress_is_only_for_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    # cat waits for its input, so the run lasts until the test has seen progress.
    command = [KADENCE, "profile", "--interval", "10000", "-o", tmp_path / "P", "--", "cat"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=theirs
    ) as profiling:
        os.close(theirs)
        seen = b""
        while b" intervals, " not in seen:
            seen += os.read(ours, 4096)
        assert profiling.stdin is not None
        profiling.stdin.close()
        while chunk := _read_terminal(ours):
            seen += chunk
    os.close(ours)
    assert profiling.returncode == 0
    # The only line that stays is the next command.
    *progress, hint, rest = seen.replace(b"\r\n", b"\n").partition(b"kadence: next: ")
    assert b"\n" not in progress[0]
    assert hint
    assert rest.startswith(b"kadence phases ")
    assert rest.count(b"\n") == 1


def _read_terminal(descriptor: int) -> bytes:
    """Read what is there; nothing once the other end is closed, which a terminal tells by EIO."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def test_environment_and_directory_are_the_callers(kadence: Kadence, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "GREETING": "hello"}
    completed = kadence(
        *("profile", "-o", "P", "--", "sh", "-c", "env; pwd -P"), env=environment, cwd=tmp_path
    )
    *variables, directory = completed.stdout.splitlines()
    assert directory == str(tmp_path)
    seen = dict(line.split("=", 1) for line in variables)
    assert environment.items() <= seen.items()
    added = seen.keys() - environment.keys() - {"PWD", "OLDPWD", "_"}
    assert added == {"VALGRIND_LIB", *ADDED_BY_VALGRIND}


def test_arguments_after_the_program_are_its_own(kadence: Kadence, tmp_path: Path) -> None:
    output = tmp_path / "P"
    arguments = ("-o", "x", "--", "--interval", "--tool=none", "", "a b", "%p")
    completed = kadence("profile", "-o", output, "--", "printf", "[%s]", *arguments)
    assert completed.stdout == "".join(f"[{argument}]" for argument in arguments)
    assert kprof.read(output).argv == ("printf", "[%s]", *arguments)


def test_a_script_is_noted(kadence: Kadence, tmp_path: Path) -> None:
    script = tmp_path / "job"
    script.write_text("#!/bin/sh\necho done\n", encoding="utf-8")
    script.chmod(0o755)
    completed = kadence("profile", "-o", tmp_path / "P", "--", script)
    assert completed.stdout == "done\n"
    assert "is a script: the profile is that of /bin/sh" in completed.stderr


def test_the_command_reproduces_the_profile(program: Compile, profiled: Profiled) -> None:
    profile = profiled(program("ending.c"), interval=5000)
    assert profile.command[:4] == ("kadence", "profile", "--interval", "5000")
    assert profile.command[-2:] == ("--", str(program("ending.c")))
    assert profile.interval == 5000


def test_the_python_face(program: Compile, tmp_path: Path) -> None:
    output = tmp_path / "P.kprof"
    outcome = runner.profile([str(program("ending.c")), "three"], output, 100_000)
    assert (outcome.exit_status, outcome.notes) == (3, ())
    assert outcome.rows == len(kprof.read(output).instructions)


# ---- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("interval", ["0", "-5", "1.5", "many", "", str(1 << 63)])
def test_a_senseless_interval_is_refused(
    kadence: Kadence, refused: Refused, tmp_path: Path, interval: str
) -> None:
    output = tmp_path / "P"
    assert "interval" in refused(
        kadence("profile", f"--interval={interval}", "-o", output, "--", "true")
    )
    assert list(tmp_path.iterdir()) == []


def unexecutable(directory: Path) -> Path:
    path = directory / "program"
    path.write_text("text", encoding="utf-8")
    return path


def neither_program_nor_script(directory: Path) -> Path:
    path = unexecutable(directory)
    path.chmod(0o755)
    return path


def set_uid(directory: Path) -> Path:
    path = Path(shutil.copy("/bin/true", directory / "program"))
    path.chmod(0o4755)
    return path


def foreign(directory: Path) -> Path:
    path = Path(shutil.copy("/bin/true", directory / "program"))
    whole = bytearray(path.read_bytes())
    whole[18:20] = b"\xb7\0"  # AArch64
    path.write_bytes(whole)
    return path


def lost_interpreter(directory: Path) -> Path:
    path = directory / "program"
    path.write_text("#!/nowhere/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def missing(directory: Path) -> Path:
    return directory / "program"


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (missing, "No such file"),
        (unexecutable, "not executable"),
        (neither_program_nor_script, "neither a program nor a script"),
        (set_uid, "set-uid"),
        (foreign, "not built for x86_64"),
        (lost_interpreter, "/nowhere/sh: No such file"),
        (lambda directory: directory, "not a file"),
    ],
)
def test_what_cannot_be_profiled_is_refused(
    kadence: Kadence,
    refused: Refused,
    tmp_path: Path,
    make: Callable[[Path], Path],
    complaint: str,
) -> None:
    path = make(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert complaint in refused(kadence("profile", "-o", tmp_path / "P", "--", path))
    assert sorted(tmp_path.iterdir()) == before


def test_a_program_outside_path_is_refused(
    kadence: Kadence, refused: Refused, tmp_path: Path
) -> None:
    complaint = refused(kadence("profile", "-o", tmp_path / "P", "--", "no-such-program"))
    assert "is not in PATH" in complaint


@pytest.mark.parametrize("place", ["missing/P", "directory", "/dev/null"])
def test_an_unwritable_output_is_refused_before_the_run(
    kadence: Kadence, refused: Refused, tmp_path: Path, place: str
) -> None:
    (tmp_path / "directory").mkdir()
    output = tmp_path / place
    complaint = refused(kadence("profile", "-o", output, "--", "touch", tmp_path / "ran"))
    assert complaint.startswith(f"kadence: cannot write {output}")
    assert not (tmp_path / "ran").exists()


def test_a_full_disk_is_refused(program: Compile, kadence: Kadence, refused: Refused) -> None:
    """A file size limit stands in for the disk: writing fails in the middle of the run."""
    output = program("mixture.c").parent / "limited.kprof"
    limited = ("sh", "-c", 'ulimit -f 1; exec "$@"', "sh", KADENCE, "profile")
    completed = subprocess.run(
        [*limited, "--interval", "1000", "-o", output, "--", program("mixture.c")],
        capture_output=True,
        text=True,
    )
    assert "make room" in refused(completed)
    assert not output.exists()


def test_a_run_is_told_as_json_beside_the_programs_own_output(kadence, tmp_path: Path) -> None:
    script = tmp_path / "twice"
    script.write_text("#!/bin/sh\necho out\nsh -c 'exit 3'\n")
    script.chmod(0o755)
    done = kadence("profile", "--json", "-o", tmp_path / "P.kprof", "--", script)
    assert (done.returncode, done.stdout) == (3, "out\n")
    told = json.loads(done.stderr)
    assert (told["profile"], told["exit_status"]) == (str(tmp_path / "P.kprof"), 3)
    (child,) = told["children"]
    assert child["program"][1:] == ["-c", "exit 3"]
    assert child["complete"]
    assert Path(child["profile"]).exists()
    assert "is a script" in told["notes"][0]
