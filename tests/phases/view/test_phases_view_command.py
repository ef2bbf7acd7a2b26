# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence view` as a command: its files, the same bytes every time, and bad input."""

import base64
import io
import json
import os
import re
import shutil
import struct
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import png
import pytest
from long_run import long_run
from PIL import Image
from planted import CHECKPOINT, COMPUTE, CYCLES, all_distances, one_kind, three_phases

from kadence.profiler import kprof
from kadence.profiler.format.profile import COMPILED

WHITE = 65535


@pytest.fixture(scope="module")
def profile() -> Any:
    return three_phases().profile()


@pytest.fixture(scope="module")
def distances(profile) -> Any:
    return all_distances(profile)


@pytest.fixture(scope="module")
def planted(profile, kadence, tmp_path_factory) -> Path:
    """A folder with the planted run, its phases, its plan and all drawings of them."""
    folder = tmp_path_factory.mktemp("view")
    kprof.write(folder / "p.kprof", profile)
    for words in (
        ("phases", "p.kprof", "-o", "p.phases.json"),
        ("plan", "p.phases.json", "-o", "p.plan.json"),
        ("view", "p.phases.json", "--no-open", "--png", "p.png", "--svg", "p.svg")
        + ("--trace", "p.trace.json"),
    ):
        done = kadence(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


def test_the_page_lies_beside_its_input_or_where_it_is_wanted(planted, kadence, tmp_path):
    assert (planted / "p.html").is_file()
    done = kadence("view", planted / "p.phases.json", "-o", tmp_path / "q.html", "--no-open")
    assert done.returncode == 0
    assert (tmp_path / "q.html").read_bytes() == (planted / "p.html").read_bytes()


def test_the_same_input_gives_the_same_bytes(planted, kadence, tmp_path):
    for name in ("p.kprof", "p.phases.json", "p.plan.json"):
        shutil.copy(planted / name, tmp_path)
    environment = os.environ | {"PYTHONHASHSEED": "77", "OMP_NUM_THREADS": "1"}
    words = ("view", "p.phases.json", "--no-open", "--png", "p.png", "--svg", "p.svg")
    done = kadence(*words, "--trace", "p.trace.json", cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    for name in ("p.html", "p.png", "p.svg", "p.trace.json"):
        assert (tmp_path / name).read_bytes() == (planted / name).read_bytes(), name


def test_the_page_refers_to_nothing_outside_it(planted):
    """Attributes that make a browser load something are absent or hold the data itself."""
    markup = re.sub(r"<script.*?</script>", "", (planted / "p.html").read_text(), flags=re.S)
    assert not re.findall(r'\b(?:src|href|action|srcset|poster)="(?!data:)', markup)
    assert not re.findall(r"url\((?!['\"]?data:)|@import", markup)
    assert "connect-src 'none'" in markup


def test_the_commands_of_the_manual_work(planted, kadence, root, tmp_path):
    manual = (root / "docs/view.md").read_text()
    commands = "".join(re.findall(r"```sh\n(.*?)```", manual, flags=re.S)).splitlines()
    for name in ("kprof", "phases.json", "plan.json"):
        shutil.copy(planted / f"p.{name}", tmp_path / f"heat.{name}")
    headless = {key: value for key, value in os.environ.items() if "DISPLAY" not in key}
    for command in commands:
        program, *words = command.split()
        assert program == "kadence"
        done = kadence(*words, cwd=tmp_path, env=headless)
        assert done.returncode == 0, done.stderr
    assert {"heat.html", "heat.png", "heat.svg", "heat.trace.json"} <= {
        path.name for path in tmp_path.iterdir()
    }


# ---- pictures --------------------------------------------------------------------------------


def test_the_png_has_every_grey_of_the_matrix_in_16_bits(planted, distances):
    width, height, rows, header = png.Reader(str(planted / "p.png")).asDirect()
    assert header["bitdepth"] == 16
    pixels = np.vstack([np.asarray(row, dtype=np.uint16) for row in rows])
    pixels = pixels.reshape(height, width, 3)
    count, side = len(distances), 1000
    left, top = _matrix_corner(pixels, side)
    for row, column in ((0, 1), (3, 14), (5, 70), (40, 41), (12, 118)):
        # The pixel in the middle of the cell belongs to this pair alone.
        y, x = (int((number + 0.5) * side / count) for number in (row, column))
        expected = round(distances[row, column] / 2 * WHITE)
        assert np.abs(pixels[top + y, left + x].astype(int) - expected).max() <= 1


def _matrix_corner(pixels: Any, side: int) -> tuple[int, int]:
    """The corner in pixels: 0.75 and 0.15 inches from the figure's edges, at 200 dots per inch."""
    assert pixels.shape[1] > 150 + side
    return 150, 30


def test_the_svg_has_the_matrix_in_16_bits(planted, distances):
    tree = ElementTree.parse(planted / "p.svg")
    images = tree.iter("{http://www.w3.org/2000/svg}image")
    data = base64.b64decode(next(images).attrib["href"].split(",", 1)[1])
    bit_depth, colour_type = struct.unpack_from(">BB", data, 24)
    assert (bit_depth, colour_type) == (16, 0)
    grey = np.asarray(Image.open(io.BytesIO(data)))
    upper = np.triu_indices(len(distances))
    assert grey.shape == distances.shape
    assert np.abs(grey[upper] - distances[upper] / 2 * WHITE).max() <= 0.51
    assert (grey[np.tril_indices(len(grey), -1)] == WHITE).all()


def test_the_svg_refers_to_nothing_outside_it(planted):
    text = (planted / "p.svg").read_text()
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'href="([^"]*)"', text))


# ---- trace -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trace(planted) -> Any:
    return json.loads((planted / "p.trace.json").read_text())


# What the Trace Event Format requires of each kind of event besides `ph`, `pid`, `tid`, `name`.
REQUIRED = {
    "X": {"ts": int, "dur": int},
    "C": {"ts": int, "args": dict},
    "i": {"ts": int, "s": str},
    "M": {"args": dict},
}


def test_every_event_is_what_the_format_asks_for(trace):
    assert isinstance(trace["traceEvents"], list)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    for event in trace["traceEvents"]:
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
        for key, kind in REQUIRED[event["ph"]].items():
            assert isinstance(event[key], kind), event
        if event["ph"] == "i":
            assert event["s"] in ("g", "p", "t")
        if event["ph"] == "C":
            assert all(isinstance(value, (int, float)) for value in event["args"].values())
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)
        assert event.get("dur", 0) >= 0 and event.get("ts", 0) >= 0


def test_slices_are_the_stays_in_phases_in_instructions(trace, planted, profile):
    assignment = json.loads((planted / "p.phases.json").read_text())["assignment"]
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    ends = [event["ts"] + event["dur"] for event in slices]
    assert [event["ts"] for event in slices] == [0, *ends[:-1]]
    assert ends[-1] == profile.instructions.sum()
    for event in slices:
        first, last = event["args"]["first interval"], event["args"]["last interval"]
        assert event["ts"] == profile.instructions[:first].sum()
        assert set(assignment[first : last + 1]) == {event["args"]["phase"]}
    assert "instructions" in trace["otherData"]["clock"]


def test_counters_hold_calls_and_bytes(trace, profile):
    rows = len(profile.start)
    sums = {"system calls": np.zeros(rows), "bytes moved": np.zeros(rows)}
    for call in profile.system_calls:
        sums["system calls"][call.interval] += call.count
        sums["bytes moved"][call.interval] += call.bytes
    for name, expected in sums.items():
        events = [event for event in trace["traceEvents"] if event["name"] == name]
        at = np.searchsorted(profile.start, [event["ts"] for event in events])
        held = np.array([event["args"]["per interval"] for event in events])
        last = np.searchsorted(at, np.arange(len(expected)), side="right") - 1
        assert held[last].tolist() == expected.tolist()


def test_instants_are_the_firings_of_the_planned_markers(trace, profile):
    fired = [event for event in trace["traceEvents"] if event["ph"] == "i"]
    counts = profile.counts.toarray()
    for function, block in (("compute", COMPUTE), ("checkpoint", CHECKPOINT)):
        stamps = [event["ts"] for event in fired if f"of {function} (" in event["args"]["place"]]
        assert stamps == profile.start[np.flatnonzero(counts[:, block])].tolist()
    assert len([event for event in fired if event["name"] == "marker of phase 1"]) == CYCLES


def test_threads_have_tracks_of_their_own(kadence, tmp_path):
    two = three_phases(thread=2, into=three_phases(thread=1))
    kprof.write(tmp_path / "p.kprof", two.profile())
    assert kadence("phases", "p.kprof", "-o", "p.phases.json", cwd=tmp_path).returncode == 0
    done = kadence("view", "p.phases.json", "--no-open", "--trace", "t", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    events = json.loads((tmp_path / "t").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert {event["tid"] for event in slices} == {1, 2}
    names = {event["tid"] for event in events if event["name"] == "thread_name"}
    assert names == {1, 2}
    assert "2 threads one after another" in (tmp_path / "p.html").read_text()


# ---- a program that counted itself -----------------------------------------------------------


@pytest.fixture(scope="module")
def unseen(profile, kadence, tmp_path_factory) -> Path:
    """A folder with a run that counted itself, and all drawings of it."""
    folder = tmp_path_factory.mktemp("unseen")
    kprof.write(folder / "u.kprof", replace(profile, system_calls=(), backend=COMPILED))
    pictures = ("--png", "u.png", "--svg", "u.svg", "--trace", "u.trace.json")
    for words in (
        ("phases", "u.kprof", "-o", "u.phases.json", "--annotated", "annotated.png"),
        ("view", "u.phases.json", "--no-open", *pictures),
    ):
        done = kadence(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


def test_phases_of_which_no_system_call_was_seen_are_called_so(unseen):
    page = (unseen / "u.html").read_text()
    header = re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.S)
    assert header is not None
    phases = [part for part in json.loads(header[1])["phases"] if not part["transition"]]
    assert [part["label"] for part in phases] == [f"unseen ({number})" for number in range(3)]
    assert [part["name"] for part in phases] == [
        f"phase {number}, system calls unseen" for number in range(3)
    ]
    assert page.count('<td class="phase">system calls unseen</td>') == 3
    events = json.loads((unseen / "u.trace.json").read_text())["traceEvents"]
    kinds = {event["args"]["kind"] for event in events if event["ph"] == "X"}
    assert kinds == {"system calls unseen", "transition"}
    assert not [event for event in events if event["ph"] == "C"]
    assert "phase 2, system calls unseen: " in (unseen / "u.svg").read_text()


# ---- files beside the artefact, present and missing ------------------------------------------


def test_without_a_plan_the_page_says_so(planted, kadence, tmp_path):
    for name in ("p.kprof", "p.phases.json"):
        shutil.copy(planted / name, tmp_path)
    assert kadence("view", tmp_path / "p.phases.json", "--no-open").returncode == 0
    assert "no plan given" in (tmp_path / "p.html").read_text()


def test_profile_and_plan_can_be_named(planted, kadence, tmp_path):
    for name in ("kprof", "phases.json", "plan.json"):
        shutil.copy(planted / f"p.{name}", tmp_path / f"other.{name}.kept")
    words = ("--profile", "other.kprof.kept", "--plan", "other.plan.json.kept", "--no-open")
    done = kadence("view", "other.phases.json.kept", "-o", "x.html", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "x.html").read_text()
    assert "quantum of 5 s" in text
    assert "I/O path in exchange: " in text


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_very_short_runs_can_be_shown(kadence, tmp_path, rows):
    kprof.write(tmp_path / "s.kprof", one_kind("C", rows).profile())
    assert kadence("phases", "s.kprof", "-o", "s.phases.json", cwd=tmp_path).returncode == 0
    words = ("--png", "s.png", "--svg", "s.svg", "--trace", "s.trace")
    done = kadence("view", "s.phases.json", "--no-open", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_names_from_the_program_are_text_not_markup(kadence, tmp_path):
    run = long_run(rows=2000, per_row=4, blocks=40)
    blocks = tuple(replace(block, function="<b>operator<<</b>") for block in run.profile.blocks)
    artefact = replace(run, profile=replace(run.profile, blocks=blocks)).write(tmp_path)
    document = json.loads(artefact.read_text())
    document["program"] = ["</script><img src=x>"]
    artefact.write_text(json.dumps(document))
    done = kadence("view", artefact, "--no-open")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "long.html").read_text()
    assert "<img src=x>" not in text and "<b>operator" not in text


def test_a_missing_profile_is_said(planted, kadence, refused, tmp_path):
    document = json.loads((planted / "p.phases.json").read_text())
    document["command"] = ["kadence", "phases", "gone.kprof"]
    (tmp_path / "p.phases.json").write_text(json.dumps(document))
    assert "--profile" in refused(kadence("view", tmp_path / "p.phases.json", "--no-open"))
    assert not (tmp_path / "p.html").exists()


def test_the_profile_of_another_run_is_refused(planted, kadence, refused, tmp_path):
    kprof.write(tmp_path / "other.kprof", one_kind("C", 5).profile())
    words = ("--profile", tmp_path / "other.kprof", "-o", tmp_path / "p.html", "--no-open")
    assert "other.kprof" in refused(kadence("view", planted / "p.phases.json", *words))
    assert not (tmp_path / "p.html").exists()


def test_the_plan_of_another_program_is_refused(planted, kadence, refused, tmp_path):
    plan = json.loads((planted / "p.plan.json").read_text()) | {"build_id": "00" * 20}
    (tmp_path / "other.json").write_text(json.dumps(plan))
    words = ("--plan", tmp_path / "other.json", "-o", tmp_path / "p.html", "--no-open")
    assert "other.json" in refused(kadence("view", planted / "p.phases.json", *words))


@pytest.mark.parametrize("content", [None, b"", b"\0\1\2", b"[]", b'{"schema": "other"}'])
def test_what_is_no_phases_artefact_is_refused(kadence, refused, tmp_path, content):
    source = tmp_path / "x.phases.json"
    if content is not None:
        source.write_bytes(content)
    assert str(source) in refused(kadence("view", source, "--no-open"))
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    "damage",
    [
        {"assignment": "x"},
        {"assignment": [0, 1]},
        {"assignment": None},
        {"command": None},
        {"markers": [{}]},
        {"build_id": "11" * 20},
    ],
)
def test_a_damaged_artefact_is_refused(planted, kadence, refused, tmp_path, damage):
    shutil.copy(planted / "p.kprof", tmp_path)
    document = json.loads((planted / "p.phases.json").read_text()) | damage
    (tmp_path / "p.phases.json").write_text(json.dumps(document))
    done = kadence("view", tmp_path / "p.phases.json", "--no-open")
    if damage == {"command": None}:  # not needed while the profile lies beside it
        assert done.returncode == 0, done.stderr
    else:
        assert "p.phases.json" in refused(done)


def test_an_artefact_without_a_build_id_is_refused(planted, kadence, refused, tmp_path):
    shutil.copy(planted / "p.kprof", tmp_path)
    document = json.loads((planted / "p.phases.json").read_text())
    del document["build_id"]
    (tmp_path / "p.phases.json").write_text(json.dumps(document))
    for verb, *words in (("view", "--no-open"), ("plan", "-o", tmp_path / "q.json")):
        assert "build_id" in refused(kadence(verb, tmp_path / "p.phases.json", *words))


@pytest.mark.parametrize("key", ["policies", "markers", "build_id"])
@pytest.mark.parametrize("damage", ["missing", 7, [7]])
def test_a_damaged_plan_is_refused(planted, kadence, refused, tmp_path, key, damage):
    for name in ("p.kprof", "p.phases.json"):
        shutil.copy(planted / name, tmp_path)
    kadence("plan", tmp_path / "p.phases.json", "-o", tmp_path / "p.plan.json")
    document = json.loads((tmp_path / "p.plan.json").read_text()) | {key: damage}
    if damage == "missing":
        del document[key]
    (tmp_path / "p.plan.json").write_text(json.dumps(document))
    done = kadence("view", tmp_path / "p.phases.json", "--no-open")
    assert "p.plan.json is damaged" in refused(done)


@pytest.mark.parametrize("option", ["-o", "--png", "--svg", "--trace"])
def test_an_output_that_cannot_be_written_is_refused(planted, kadence, refused, tmp_path, option):
    words = {"-o": tmp_path / "p.html"} | {option: tmp_path / "nowhere" / "x"}
    flat = [word for pair in words.items() for word in pair]
    assert "nowhere" in refused(kadence("view", planted / "p.phases.json", "--no-open", *flat))


@pytest.mark.parametrize("port", ["-1", "70000", "x"])
def test_a_port_that_is_none_is_refused(planted, kadence, refused, tmp_path, port):
    words = ("-o", tmp_path / "p.html", "--no-open", "--serve", "--port", port)
    refused(kadence("view", planted / "p.phases.json", *words))


def test_the_ranks_of_a_program_are_shown_together(planted, kadence, refused, tmp_path):
    for name in ("one", "two"):
        shutil.copy(planted / "p.kprof", tmp_path / f"{name}.kprof")
    done = kadence("phases", "one.kprof", "two.kprof", "-o", "all.phases.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "all.phases.json").read_text())
    done = kadence("view", "all.phases.json", "--no-open", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{document['intervals']} intervals" in done.stdout
    (tmp_path / "two.kprof").unlink()
    assert "two.kprof" in refused(kadence("view", "all.phases.json", "--no-open", cwd=tmp_path))
