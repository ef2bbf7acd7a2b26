# SPDX-License-Identifier: GPL-2.0-or-later
"""The map of a kernel's code: a small one, of which all is known."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kadence.codemap import drawing, page
from kadence.codemap.content import CodeMap
from kadence.kconfig.layout import artefact
from kadence.kconfig.layout.artefact import Code, Counts, Footprint, Misses, PhaseCode

K = 0xFFFFFFFF81000000
SVG = "{http://www.w3.org/2000/svg}"
# Two lines of set 0, one of set 1, and one of set 63 on another page.
BEFORE = Footprint(
    instructions=1000,
    programs=0,
    lines=4,
    executed_bytes=200,
    pages=3,
    taken_branches=10,
    caches=[Misses(32768, 8, 1000, 1000, 0, 0)],
    code=[
        f"{K:x} 900 800 hot 3",
        f"{K + 64:x} 90 1 hot 1",
        f"{K + 4096:x} 800 199 rival 2",
        f"{K + 2 * 4096 + 63 * 64:x} 5 0 rare<at> 1",
    ],
    evictions=["hot rival 700", "hot rare<at> 100", "rival hot 199"],
    phases=[PhaseCode(None, 600, 3, 96, 2), PhaseCode(7, 400, 2, 128, 2)],
)
PROGRAM = Code(
    lines=2,
    executed_bytes=64,
    pages=1,
    code=["1000 50 40 main 3", "1040 7 2 helper 2"],
    evictions=["main kernel:hot 30"],
    phases=[PhaseCode(None, 10, 1, 32, 1), PhaseCode(7, 5, 2, 64, 1)],
)
COUNTS = Counts(
    ["./p", "a b"], "0" * 16, None, before=BEFORE, after=replace(BEFORE, program_code=PROGRAM)
)


def test_lines_lie_in_the_sets_of_their_addresses() -> None:
    found = CodeMap(BEFORE, BEFORE.caches[0])
    assert found.sets == 64
    assert [found.set_of(line) for line in found.lines] == [0, 1, 0, 63]
    assert len(found.pages) == 3
    assert found.misses_by_set[:2] == [999, 1] and sum(found.misses_by_set) == 1000
    assert found.marked == {K, K + 4096}  # the first alone has 80 %


def test_functions_that_miss_most_come_first_with_their_rivals() -> None:
    first, second, third = CodeMap(BEFORE, BEFORE.caches[0]).rows()
    assert (first.function, first.lines, first.fetches, first.misses) == ("hot", 2, 990, 801)
    assert (first.evictor, first.by_evictor) == ("rival", 700)
    assert (second.function, second.evictor, second.by_evictor) == ("rival", "hot", 199)
    assert (third.function, third.misses, third.evictor) == ("rare<at>", 0, "")


def test_the_map_of_a_phase_has_its_lines_alone() -> None:
    whole = CodeMap(BEFORE, BEFORE.caches[0])
    assert len(whole.pages) == 3
    found = whole.of_phase("phase 7")
    assert [line.function for line in found.lines] == ["hot", "rival"]
    assert (len(found.pages), found.marked) == (2, frozenset())
    none, seventh = whole.phases
    assert (none.name, none.filled) == ("outside of phases", 0.5)
    assert (seventh.name, seventh.lines, seventh.pages, seventh.filled) == ("phase 7", 2, 2, 1.0)


def test_a_picture_has_a_cell_for_each_line() -> None:
    found = CodeMap(BEFORE, BEFORE.caches[0])
    chosen = drawing.colours([found])
    picture = ElementTree.fromstring(drawing.svg(found, chosen, "as it was"))
    paths = {path.findtext(f"{SVG}title"): path for path in picture.iter(f"{SVG}path")}
    assert paths["hot"].get("d", "").count("M") == 2
    assert paths["rare<at>"].get("d", "").count("M") == 1
    assert paths["hot"].get("fill") == drawing.COLOURS[0]
    assert paths[None].get("d", "").count("M") == 2  # the marks
    assert len(list(picture.iter(f"{SVG}rect"))) == 64


def test_the_page_has_both_maps_and_escapes_names(tmp_path: Path) -> None:
    place = tmp_path / "p.kcounts.json"
    artefact.write(place, COUNTS, ["x"])
    assert page.is_counts(place) and not page.is_counts(tmp_path)
    kadence = Path(sys.executable).parent / "kadence"
    words = [kadence, "view", place, "--no-open", "--svg", tmp_path / "p.svg"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert told.strip() == str(tmp_path / "p.kcounts.html")
    text = (tmp_path / "p.kcounts.html").read_text()
    assert text.count("<svg") == (2 + 1) * (1 + 2) and "rare<at>" not in text
    assert "42 misses of the program" in text and ">kernel:hot</code>" in text
    assert "Only what runs in phase 7" in text and "<td>100 %</td>" in text
    assert "./p &#39;a b&#39;" in text
    assert ElementTree.parse(tmp_path / "p.svg").getroot().tag == f"{SVG}svg"


@pytest.mark.parametrize("option", ["--png", "--trace"])
def test_what_the_map_does_not_have_is_refused(option: str, tmp_path: Path) -> None:
    place = tmp_path / "p.kcounts.json"
    artefact.write(place, COUNTS, ["x"])
    kadence = Path(sys.executable).parent / "kadence"
    words = [kadence, "view", place, "--no-open", option, tmp_path / "other"]
    told = subprocess.run(words, capture_output=True, text=True)
    assert told.returncode and len(told.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [place]
