# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of trials: what is read, what is told, and what is refused."""

import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from planted_records import KIND, MACHINE, Process, line, planted

from kadence.base import codec
from kadence.base.errors import ArtefactError, KadenceError
from kadence.trials import lines, record


@pytest.fixture
def whole() -> Process:
    process = Process(7).phase(0).block(-0.03).block(0.01, policy="rings")
    return process.decision("helps").end()


def parsed(content: bytes) -> record.TrialsFile:
    return record.parse(Path("x.trials"), content)


def refusal(content: bytes) -> str:
    with pytest.raises(KadenceError) as caught:
        parsed(content)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_whole_record_is_read(whole: Process, tmp_path: Path) -> None:
    found = record.read(whole.write(tmp_path / "x.trials"))
    (one,) = found.records
    assert not found.is_cut
    assert (one.header.process, one.header.started) == (7, 1_700_000_000)
    assert codec.encode(one.header.machine.kind) == KIND
    assert [block.difference for block in one.blocks] == [-0.03, 0.01]
    assert [block.arm.policy for block in one.blocks] == ["memory", "rings"]
    assert one.blocks[0].time_ns == (4_000_000, 3_881_782)
    assert one.phases[0].visits_of_block == 2 * (1 + 4)
    assert [decision.state for decision in one.decisions] == ["helps"]
    assert one.end is not None and one.end.boundaries == 123


@pytest.mark.parametrize(
    ("memory", "gib"), [(0, 0), (1 << 30, 1), ((3 << 29) - 1, 1), (3 << 29, 2), (5 << 29, 3)]
)
def test_memory_is_rounded_as_libkadapt_does(memory: int, gib: int) -> None:
    machine = codec.decode(lines.Machine, MACHINE | {"memory_bytes": memory})
    assert machine.kind.memory_gib == gib


def test_processes_share_a_file_and_numbers_come_back() -> None:
    first, second = planted(-0.1, 5, number=7), planted(0.1, 4, number=8)
    again = planted(0.2, 3, number=7, started=1_700_000_099)
    mixed = [each for pair in zip(first.lines, second.lines, strict=False) for each in pair]
    rest = first.lines[len(second.lines) :]
    found = parsed(b"".join([*mixed, *rest, *again.lines]))
    assert [(one.header.process, len(one.blocks)) for one in found.records] == [
        (7, 5),
        (8, 4),
        (7, 3),
    ]


def test_a_cut_last_line_is_told_and_left_out(whole: Process) -> None:
    content = whole.content
    last = len(whole.lines[-1])
    for cut in range(2, last):
        found = parsed(content[:-cut])
        assert found.is_cut, cut
        assert found.records[0].end is None
        assert len(found.records[0].blocks) == 2
    assert not parsed(content[:-last]).is_cut
    # Only the line feed is missing.
    assert not parsed(content[:-1]).is_cut and parsed(content[:-1]).records[0].end


def test_every_flipped_byte_is_refused(whole: Process) -> None:
    content = whole.content[: -len(whole.lines[-1])]
    dice = random.Random(1)
    for place in range(len(content)):
        other = content[place] ^ (1 << dice.randrange(8))
        damaged = content[:place] + bytes([other]) + content[place + 1 :]
        if place == len(content) - 1:
            continue  # the last line feed: then the last line is cut, which is no damage
        said = refusal(damaged)
        number = content[:place].count(b"\n") + 1
        assert f"x.trials is damaged at line {number}: " in said


def test_a_line_that_is_gone_does_no_harm_but_a_header_does(whole: Process) -> None:
    assert len(parsed(b"".join(whole.lines[:2] + whole.lines[3:])).records[0].blocks) == 1
    assert "damaged at line 1: process 7 has no header before it" in refusal(
        b"".join(whole.lines[1:])
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"version": 2}, "has version 2 of kadence.trials at line 1, this Kadence knows 1"),
        ({"version": True}, "has version True"),
        ({"schema": "kadence.plan"}, "its schema is 'kadence.plan'"),
        ({"plan": "12"}, "'12' is not 16 hex digits"),
        ({"seed": 5}, "seed is not a text"),
        ({"machine": MACHINE | {"kernel": "new"}}, "'new' is no kernel's release"),
        ({"machine": {}}, "machine.processor is missing"),
        ({"budget": 10**400}, "budget is too large a number"),
    ],
)
def test_other_headers_are_refused(changed: dict[str, Any], said: str) -> None:
    assert said in refusal(Process(7, changed).content)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"policy": "luck"}, "the policy 'luck' is unknown"),
        ({"phase": -1}, "cannot be tried"),
        ({"phase": 256}, "there is no phase 256"),
        ({"level": 0}, "cannot be tried"),
        ({"bound": 0.0}, "a block's bound is 0.0"),
        ({"bound": 1e300}, "a block's bound is 1e+300"),
        ({"time_ns": [1, None]}, "block.time_ns[1] is not a number"),
        ({"time_ns": [float("nan"), 1]}, "block.time_ns[0] is not a number"),
        ({"work": [1]}, "block.work is not a list of 2"),
        ({"level_first": 1}, "block.level_first is not true or false"),
    ],
)
def test_impossible_blocks_are_refused(changed: dict[str, Any], said: str) -> None:
    told = refusal(Process(7).block(0.0, **changed).content)
    assert told.startswith("x.trials is damaged at line 2: ") and said in told


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"luck": {}}, "the line's kind is unknown"),
        ({"end": {}, "block": {}}, "the line's kind is unknown"),
        ({"end": 5}, "is not an object"),
        ({"end": {"elapsed_ns": 1, "spent_ns": 1}}, "end.boundaries is missing"),
    ],
)
def test_lines_of_other_kinds_are_refused(body: dict[str, Any], said: str) -> None:
    assert said in refusal(Process(7).content + line(7, **body))


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    assert "damaged at line 1: the line has no sum" in refusal(b"\x89PNG\r\n\x1a\n")
    assert "the line has no sum" in refusal(b"\n")
    assert parsed(b"").records == ()
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ArtefactError, match=f"{path} is not a regular file"):
            record.read(path)
    with pytest.raises(ArtefactError, match="cannot read .*: No such file"):
        record.read(tmp_path / "none")


def test_a_record_keeps_its_id_while_the_process_goes_on() -> None:
    process = planted(-0.03, 40)
    whole = parsed(process.content).records[0].id
    assert parsed(b"".join(process.lines[:9])).records[0].id == whole
    # The same process number, second and coin on another node: the times differ.
    other = Process(7).phase(spread=0.0100001).block(0.0)
    assert parsed(other.content).records[0].id != whole


def test_the_names_are_libkadapts(root: Path) -> None:
    """The tables of record.c, which writes the lines."""
    source = (root / "kadapt/lib/trials/record.c").read_text()
    for table, known in (
        ("arm_states", lines.ARM_STATES),
        ("trial_states", lines.TRIAL_STATES),
        ("clocks", lines.CLOCKS),
        ("measures", lines.MEASURES),
    ):
        (names,) = re.findall(rf"{table}\[\] = {{(.*?)}};", source, re.DOTALL)
        assert tuple(re.findall('"(.*?)"', names)) == known, table
