# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages, completions and the options before the verb."""

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence import cli
from kadence.manual.__main__ import COMPLETIONS, main

Completed = subprocess.CompletedProcess[str]
COMMAND = Path(sys.executable).parent / "kadence"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual")
    main(folder)
    return folder


def test_every_verb_has_a_page_that_groff_accepts(prefix: Path) -> None:
    pages = sorted((prefix / "share/man/man1").glob("*.1"))
    names = {page.stem for page in pages}
    for verb in cli.VERBS:
        name = f"kadence-{verb.replace(' ', '-')}"
        assert name in names or any(other.startswith(f"{name}-") for other in names), verb
    for page in pages:
        shown = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True, check=True
        )
        assert shown.stderr == "", page


def test_page_says_what_help_says(prefix: Path) -> None:
    told = subprocess.run(
        [COMMAND, "kernel", "build", "--help"], capture_output=True, text=True, check=True
    ).stdout
    options = set(re.findall(r"^  (?:-\w.*?, )?(--[a-z-]+)", told, re.MULTILINE))
    page = (prefix / "share/man/man1/kadence-kernel-build.1").read_text().replace("\\-", "-")
    assert options
    assert all(option in page for option in options)


def completed(prefix: Path, words: list[str]) -> set[str]:
    """What bash offers for the last word."""
    script = (
        f'. {prefix / COMPLETIONS["bash"]}\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\n'
        '_kadence\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    ran = subprocess.run(
        ["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True
    )
    assert ran.stderr == ""
    return set(ran.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["kadence", "pha"], {"phases"}),
        (["kadence", "profile", "m"], {"merge"}),
        (["kadence", "profile", "merge", "--j"], {"--json"}),
        (["kadence", "-q", "kernel", "bu"], {"build"}),
        (["kadence", "kernel", "build", "--mit"], {"--mitigations"}),
        (["kadence", "specialize", "--target", ""], {"um", "x86_64"}),
        (["kadence", "profile", "-o", "P.kprof", "--", "--int"], set()),
    ],
)
def test_bash_completes(prefix: Path, words: list[str], offered: set[str]) -> None:
    assert completed(prefix, words) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_completion(prefix: Path, shell: str) -> None:
    subprocess.run([shell, "-n", prefix / COMPLETIONS[shell]], check=True)


def test_fish_completes(prefix: Path) -> None:
    script = f"source {prefix / COMPLETIONS['fish']}; complete -C 'kadence kernel build --mit'"
    told = subprocess.run(["fish", "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split("\t")[0] == "--mitigations"


def test_zsh_completes(prefix: Path) -> None:
    """The function is called as zsh's completion does, with its words and cursor."""
    script = (
        "_describe() { print -l -- ${(P)2%%:*} }; _files() { :; }; compdef() { :; }\n"
        "words=(kadence kernel build --mit); CURRENT=4\n"
        f"source {prefix / COMPLETIONS['zsh']}\n"
    )
    told = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True)
    assert "--mitigations" in told.stdout.split()


def at_a_terminal(*words: str) -> str:
    """What a user sees."""
    master, slave = pty.openpty()
    with subprocess.Popen([COMMAND, *words], stdout=slave, stderr=slave) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:
                break
            shown += more
        process.wait()
    os.close(master)
    return shown.decode()


def test_a_terminal_names_the_next_command(tmp_path: Path) -> None:
    profile = str(tmp_path / "P.kprof")
    told = at_a_terminal("profile", "-o", profile, "--", "true")
    assert f"kadence: next: kadence phases {profile} -o {tmp_path}/P.phases.json" in told
    assert at_a_terminal("-q", "profile", "-o", profile, "--", "true") == ""


def test_a_file_gets_no_progress(kadence: Callable[..., Completed], tmp_path: Path) -> None:
    ran = kadence("profile", "-o", tmp_path / "P.kprof", "--", "true")
    assert (ran.stdout, ran.stderr) == ("", "")


def test_verbose_names_the_commands(kadence: Callable[..., Completed], tmp_path: Path) -> None:
    ran = kadence("-v", "profile", "-o", tmp_path / "P.kprof", "--", "true")
    assert re.search(r"^kadence: running \S*valgrind .* -- true$", ran.stderr, re.MULTILINE)
    assert ran.returncode == 0


def test_quiet_and_verbose_contradict(
    kadence: Callable[..., Completed], refused: Callable[[Completed], str]
) -> None:
    assert "not allowed with" in refused(kadence("-q", "-v", "doctor"))
