# SPDX-License-Identifier: GPL-2.0-or-later
"""Importing vectors: exp-bbv's own file, other tools' forms, and files that hold none."""

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence.profiler import frequencies, kprof

INTERVAL = 100_000


def exp_bbv(binary: Path, directory: Path) -> Path:
    vectors = directory / "out.bb"
    subprocess.run(
        [
            *("valgrind", "--tool=exp-bbv", "--command-line-only=yes", "-q", "--vgdb=no"),
            *(f"--interval-size={INTERVAL}", f"--bb-out-file={vectors}"),
            *(f"--pc-out-file={directory / 'pc'}", binary),
        ],
        check=True,
        capture_output=True,
    )
    return vectors


def test_what_exp_bbv_wrote_is_what_the_profile_holds(
    program: Callable[..., Path], kadence, tmp_path: Path
) -> None:
    source, output = exp_bbv(program("mixture.c", "-O2"), tmp_path), tmp_path / "P.kprof"
    done = kadence("profile", "import", source, "-o", output)
    assert done.returncode == 0, done.stderr
    profile = kprof.read(output)
    lines = [line for line in source.read_text().splitlines() if line.startswith("T")]
    assert len(lines) == len(profile.instructions) > 10
    for line, vector in zip(lines, profile.vectors.tocsr().toarray(), strict=True):
        expected = dict.fromkeys((block.address for block in profile.blocks), 0)
        for pair in line[1:].split():
            _, block, instructions = pair.split(":")
            expected[int(block)] += int(instructions)
        assert vector.tolist() == list(expected.values())
    assert f"{len(lines)} intervals" in done.stdout


def test_imported_vectors_have_phases(kadence, tmp_path: Path) -> None:
    lines = ["T:1:900 :2:100"] * 20 + ["T:3:700 :7:300"] * 20
    (tmp_path / "a.bb").write_text("\n".join(lines) + "\n")
    assert kadence("profile", "import", "a.bb", "-o", "p", cwd=tmp_path).returncode == 0
    assert kadence("phases", "p", "-o", "q", cwd=tmp_path).returncode == 0
    found = json.loads((tmp_path / "q").read_text())
    assert found["assignment"] == [0] * 20 + [1] * 20
    assert found["phases"][1]["hottest"][0]["function"] == "block_3"


def test_what_the_text_does_not_hold_is_said_to_be_unseen(kadence, tmp_path: Path) -> None:
    (tmp_path / "a.bb").write_text(GEM5)
    assert kadence("profile", "import", "a.bb", "-o", "p", cwd=tmp_path).returncode == 0
    profile = kprof.read(tmp_path / "p")
    assert (profile.backend, profile.kernel_seen, profile.tasks_seen) == ("simpoint", False, False)
    shown = kadence("profile", "show", "p", cwd=tmp_path).stdout.splitlines()
    assert "recorded      by another tool, imported from SimPoint's text" in shown
    assert "not seen      system calls, memory, threads" in shown
    assert not [line for line in shown if line.startswith("threads")]
    found = json.loads(kadence("profile", "show", "--json", "p", cwd=tmp_path).stdout)
    assert (found["backend"], found["exit_status"], found["complete"]) == ("simpoint", None, None)


def test_comments_blank_lines_and_gzip_are_read(tmp_path: Path) -> None:
    text = b"# made by hand\n\nT:2:5   :1:7 \nT:1:1 :1:2\n"
    (tmp_path / "a.bb.gz").write_bytes(gzip.compress(text))
    profile = frequencies.read(tmp_path / "a.bb.gz")
    assert profile.vectors.tocsr().toarray().tolist() == [[7, 5], [3, 0]]
    assert profile.instructions.tolist() == [12, 3]


# As PinPoints writes it, one file per thread, with lines where slices and the program end.
PINPOINTS = """I: 0
P: 1
C: sum:dummy Command: /opt/pin -t isimpoint.so -- ./a T:1:2
B: 1 main:entry a.c:12
# Slice ending at 30
T:1:20 :2:10 \nS: 2 40 main:loop a.c:14
# Slice ending at 61
T:2:31 \nM: 0x401136 42
Dynamic instruction count 61
SliceSize: 30
Block id: 1 0x401120:0x401130 static instructions: 5 block count: 4 block size: 16
Block id: 2 0x401136:0x40113f static instructions: 3 block count: 13 block size: 9
End of bb
"""
GEM5 = "T:1:20 :2:10 \nT:2:31 \n"  # a blank after every block
EXP_BBV = "T:1:20 :2:10   \nT:2:31   \n\n# Thread 1\n#   Total intervals: 2 (Interval Size 30)\n"
QEMU = "T:1:20 :2:10\nT:2:31\n"
FORMS = (PINPOINTS, GEM5, EXP_BBV, QEMU)


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_tools_own_form_is_read(
    text: str, pack: Callable[[bytes], bytes], end: str, tmp_path: Path
) -> None:
    (tmp_path / "a.bb").write_bytes(pack(text.replace("\n", end).encode("ascii")))
    profile = frequencies.read(tmp_path / "a.bb")
    assert profile.vectors.tocsr().toarray().tolist() == [[20, 10], [0, 31]]
    assert profile.instructions.tolist() == [30, 31]
    assert profile.start.tolist() == [0, 30]


def test_blocks_that_never_ran_take_no_room(tmp_path: Path) -> None:
    (tmp_path / "a.bb").write_text("T:2147483647:5 :7:1\nT:7:3\n")
    profile = frequencies.read(tmp_path / "a.bb")
    assert profile.vectors.tocsr().toarray().tolist() == [[1, 5], [3, 0]]
    assert [block.function for block in profile.blocks] == ["block_7", "block_2147483647"]


def test_import_says_as_json_what_it_read(kadence, tmp_path: Path) -> None:
    (tmp_path / "a.bb").write_text(GEM5)
    done = kadence("profile", "import", "a.bb", "-o", "p", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == {"intervals": 2, "blocks": 2}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no interval"),
        (b"T:1:5\nQ: 0\n", "line 2"),
        (b"T:1:5\nBlock: 1\n", "line 2"),
        (b"# nothing\n", "no interval"),
        (b"T\n", "no interval"),
        (b"T:1:5\nhello\n", "line 2"),
        (b"T:1:5\nT:1:5 :2\n", "line 2"),
        (b"T:1:-5\n", "line 1"),
        (b"T:0:5\n", "blocks count from 1"),
        (b"T:1:9999999999\n", "more than an interval can hold"),
        (b"\x00\xff\xfe", "line 1"),
        (b"\x1f\x8b broken", "cannot read"),
        (gzip.compress(b"T:1:5\n" * 99, mtime=0)[:-12], "cannot read"),  # the name of the test
    ],
)
def test_what_is_no_such_file_is_refused(kadence, refused, tmp_path, content, said) -> None:
    (tmp_path / "a.bb").write_bytes(content)
    output = tmp_path / "p"
    message = refused(kadence("profile", "import", tmp_path / "a.bb", "-o", output))
    assert said in message
    assert "a.bb" in message
    assert not output.exists()


@pytest.mark.parametrize("words", [(), ("a", "b"), ("missing.bb",)])
def test_import_takes_one_file_that_is_there(kadence, refused, tmp_path, words) -> None:
    refused(kadence("profile", "import", *words, "-o", tmp_path / "p"))
    assert not (tmp_path / "p").exists()
