# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence compare`, and plans made with its result."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from planted import (
    BLOCKS,
    CHECKPOINT,
    COMPUTE,
    COMPUTE_ROWS,
    CYCLES,
    FILE_ROWS,
    LOG,
    SOCKET_ROWS,
    Planted,
    three_phases,
)
from scipy import sparse
from scipy.spatial.distance import cdist

from kadence.phases.compare import crossmatrix
from kadence.phases.compare.common_rows import common_rows
from kadence.phases.find import matrix
from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile

ROWS_OF_CYCLE = COMPUTE_ROWS + 1 + FILE_ROWS + SOCKET_ROWS
ROWS = CYCLES * ROWS_OF_CYCLE


def moved(profile: Profile) -> Profile:
    """The same run in another folder: other addresses, blocks met in another order."""
    order = np.random.default_rng(7).permutation(len(profile.blocks))
    blocks = tuple(
        replace(
            profile.blocks[number],
            address=profile.blocks[number].address + 0x5000,
            object=profile.blocks[number].object.replace("/tmp", "/srv"),
        )
        for number in order
    )
    return replace(
        profile,
        argv=("/srv/planted",),
        blocks=blocks,
        vectors=sparse.csr_array(profile.vectors.tocsc()[:, order]),
        counts=sparse.csr_array(profile.counts.tocsc()[:, order]),
    )


def compute_and_exchange() -> Planted:
    """Another input: it never writes a checkpoint."""
    full, planted = three_phases(), Planted()
    for row, mixture in enumerate(full.rows):
        if "F" not in mixture:
            planted.add(mixture)
            for (of, number), times in full.counts.items():
                if of == row:
                    planted.enter(len(planted.rows) - 1, number, times)
            planted.calls += [
                replace(call, interval=len(planted.rows) - 1)
                for call in full.calls
                if call.interval == row
            ]
    return planted


class Desk:
    """Profiles on disk, and Kadence's commands for them."""

    def __init__(self, folder: Path, kadence: Any) -> None:
        self.folder, self.kadence = folder, kadence

    def put(self, name: str, profile: Profile) -> None:
        kprof.write(self.folder / f"{name}.kprof", profile)

    def compare(self, *names: str, options: tuple[str, ...] = ()) -> Any:
        profiles = [f"{name}.kprof" for name in names]
        return self.kadence("compare", *profiles, "-o", "c.json", *options, cwd=self.folder)

    def plan(self, name: str, *options: str) -> Any:
        done = self.kadence("phases", f"{name}.kprof", "-o", "p.json", cwd=self.folder)
        assert done.returncode == 0, done.stderr
        words = ("plan", "p.json", "-o", "q.json", "--compare", "c.json", *options)
        return self.kadence(*words, cwd=self.folder)

    def read(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text())


@pytest.fixture
def desk(tmp_path: Path, kadence: Any) -> Desk:
    made = Desk(tmp_path, kadence)
    made.put("a", three_phases().profile())
    made.put("b", moved(three_phases().profile(noise=0.02)))
    return made


def test_two_runs_of_the_same_work_are_input_stable(desk):
    done = desk.compare("a", "b")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("input-stable: 0.0% of the instructions")
    document = desk.read("c.json")
    assert (document["schema"], document["version"]) == ("kadence.compare", 4)
    assert document["build_id"] == "ab" * 20
    assert document["command"] == ["kadence", "compare", "a.kprof", "b.kprof", "-o", "c.json"]
    assert (document["verdict"], document["unknown"]) == ("input-stable", 0.0)
    for described in document["inputs"]:
        assert [phase["family"] for phase in described["phases"]] == [0, 1, 2]
    for pair in document["pairs"]:
        distances = np.array(pair["distances"])
        assert distances.diagonal().max() < 0.1
        assert distances[~np.eye(3, dtype=bool)].min() > 1.5


def test_every_marker_is_judged_on_the_other_input(desk):
    desk.compare("a", "b")
    judged = {
        (marker["function"], marker["phase"]): marker
        for marker in desk.read("c.json")["markers"]
        if marker["chosen_on"] == 0
    }
    marker = judged["checkpoint", 1]
    assert marker["judged_on"] == 1
    assert (marker["fires"], marker["boundaries"]) == (CYCLES, CYCLES)
    assert (marker["announced"], marker["false"]) == (1.0, 0.0)
    assert marker["firings_per_second"] == CYCLES / (ROWS / 1000)


def test_an_input_without_a_phase_makes_the_program_input_dependent(desk):
    desk.put("c", compute_and_exchange().profile())
    done = desk.compare("a", "c")
    assert done.stdout.startswith("input-dependent: ")
    document = desk.read("c.json")
    # The mixed row joins the nearer of its two phases.
    assert FILE_ROWS * CYCLES / ROWS <= document["unknown"] <= (FILE_ROWS + 1) * CYCLES / ROWS
    assert [phase["family"] for phase in document["inputs"][1]["phases"]] == [0, 2]
    assert document["pairs"][1]["unknown"] == 0.0
    assert [pair["unknown_phases"] for pair in document["pairs"]] == [[1], []]


def refusals(plan: Any, what: str) -> dict[int | None, str]:
    return {one["phase"]: one["reason"] for one in plan["refused"] if one["what"] == what}


def quanta(plan: Any) -> list[int]:
    return [policy["quantum_ns"] for policy in plan["policies"]]


def test_a_phase_that_another_input_does_not_know_loses_its_calls_alone(desk):
    desk.put("c", compute_and_exchange().profile())
    desk.compare("a", "c")
    done = desk.plan("a")
    assert done.returncode == 0, done.stderr
    plan = desk.read("q.json")
    assert [marker["phase"] for marker in plan["markers"]] == [0, 2]
    assert plan["announcement"]["withdrawn"] == [1]
    assert "another input (`/tmp/planted`) has no such phase" in refusals(plan, "marker")[1]
    assert "1 of 3 phases" in refusals(plan, "phase calls")[None]
    assert done.stdout.startswith("reduced: the program is input-dependent: ")
    assert "profile what the job will run" in done.stdout
    assert plan["stability"]["reduced"]
    # The checkpoint does I/O, follows computing, and has no marker.
    assert quanta(plan) == [0, 0, 0]
    assert plan["needs"]["system_calls"] == ["openat", "read", "sendto", "write"]


def test_io_that_only_the_other_input_does_forbids_long_quanta(desk):
    desk.put("c", compute_and_exchange().profile())
    desk.compare("c", "a")
    assert desk.plan("c").returncode == 0
    plan = desk.read("q.json")
    assert [marker["phase"] for marker in plan["markers"]] == [0, 1]
    assert quanta(plan) == [0, 0]
    assert "does I/O in phases that the plan does not know" in refusals(plan, "long quantum")[0]


def test_another_programs_behaviour_is_refused_for_all_phases(desk):
    strange = Planted()
    for _ in range(ROWS):
        row = strange.add({"X": 1.0})
        strange.enter(row, LOG)
    desk.put("c", strange.profile())
    desk.compare("a", "c")
    assert desk.plan("a").returncode == 0
    plan = desk.read("q.json")
    assert plan["markers"] == [] and quanta(plan) == [0, 0, 0]
    assert set(refusals(plan, "marker")) == {0, 1, 2}
    assert "3 of 3 phases" in refusals(plan, "phase calls")[None]


def test_force_plans_all_for_an_input_dependent_program(desk):
    desk.put("c", compute_and_exchange().profile())
    desk.compare("a", "c")
    done = desk.plan("a", "--force")
    assert done.returncode == 0, done.stderr
    plan = desk.read("q.json")
    assert plan["stability"]["verdict"] == "input-dependent"
    assert not plan["stability"]["reduced"]
    assert refusals(plan, "phase calls") == {}
    assert [marker["phase"] for marker in plan["markers"]] == [0, 1, 2]
    assert plan["command"][-3:] == ["--compare", "c.json", "--force"]


def test_the_plan_holds_the_figures_of_both_inputs(desk):
    desk.compare("a", "b")
    done = desk.plan("a")
    assert done.returncode == 0, done.stderr
    assert "markers, validated on `/srv/planted`: 100.0%" in done.stdout
    announcement = desk.read("q.json")["announcement"]
    assert announcement["withdrawn"] == []
    fires = CYCLES * (COMPUTE_ROWS + 2)  # compute in each of its rows, the others once a cycle
    expected = {
        "boundaries": 3 * CYCLES - 1,
        "unmarked": 0,
        "announced": 1.0,
        "fires": fires,
        "false": 0.0,
        "firings_per_second": fires / (ROWS / 1000),
    }
    assert announcement["chosen_on"] == {"program": ["/tmp/planted"], **expected}
    assert announcement["validated_on"] == [{"program": ["/srv/planted"], **expected}]


def checkpoints_of_two_kinds() -> Planted:
    """Another input: every second checkpoint formats other numbers."""
    planted = three_phases()
    for cycle in range(1, CYCLES, 2):
        first = cycle * ROWS_OF_CYCLE + COMPUTE_ROWS + 1
        planted.rows[first : first + FILE_ROWS] = [{"F": 0.65, "S": 0.35}] * FILE_ROWS
    return planted


@pytest.mark.parametrize("first, second", [("a", "b"), ("b", "a")])
def test_phases_that_another_input_splits_are_still_announced(desk, first, second):
    """A marker announces the plan's phase, however the other input's phases are cut."""
    desk.put("b", checkpoints_of_two_kinds().profile())
    desk.compare(first, second)
    described = {one["profile"]: one for one in desk.read("c.json")["inputs"]}
    assert [len(described[f"{name}.kprof"]["phases"]) for name in ("a", "b")] == [3, 4]
    assert desk.plan("a").returncode == 0
    plan = desk.read("q.json")
    assert [marker["phase"] for marker in plan["markers"]] == [0, 1, 2]
    announcement = plan["announcement"]
    assert announcement["withdrawn"] == []
    assert announcement["validated_on"] == [
        {**announcement["chosen_on"], "program": ["/tmp/planted"]}
    ]


def test_a_marker_that_fires_elsewhere_on_the_other_input_is_withdrawn(desk):
    noisy = three_phases()
    for cycle in range(CYCLES):
        noisy.enter(cycle * ROWS_OF_CYCLE + 5, CHECKPOINT)
    desk.put("b", noisy.profile())
    desk.compare("a", "b")
    assert desk.plan("a").returncode == 0
    plan = desk.read("q.json")
    assert [marker["phase"] for marker in plan["markers"]] == [0, 2]
    assert plan["announcement"]["withdrawn"] == [1]
    # Half of checkpoint's firings are in the middle of compute; the figures include them.
    fires = CYCLES * (COMPUTE_ROWS + 3)
    other = plan["announcement"]["validated_on"][0]
    assert (other["fires"], other["unmarked"]) == (fires, 0)
    assert other["false"] == pytest.approx(CYCLES / fires, abs=1e-4)
    reason = next(one["reason"] for one in plan["refused"] if one["what"] == "marker")
    assert "fires elsewhere in 50% of its firings" in reason
    # Without this marker nothing ends the long quantum when the checkpoint begins.
    assert [policy["quantum_ns"] for policy in plan["policies"]] == [0, 0, 0]


def test_a_marker_that_misses_boundaries_on_the_other_input_is_withdrawn(desk):
    silent = three_phases()
    for cycle in range(CYCLES - 1):
        del silent.counts[cycle * ROWS_OF_CYCLE + COMPUTE_ROWS, CHECKPOINT]
    desk.put("b", silent.profile())
    desk.compare("a", "b")
    assert desk.plan("a").returncode == 0
    plan = desk.read("q.json")
    assert plan["announcement"]["withdrawn"] == [1]
    boundaries = 3 * CYCLES - 1
    assert plan["announcement"]["validated_on"][0]["announced"] == pytest.approx(
        (boundaries - (CYCLES - 1)) / boundaries, abs=1e-4
    )


def test_profiles_of_different_programs_are_refused(desk, refused):
    desk.put("b", replace(three_phases().profile(), build_id="cd" * 20))
    complaint = refused(desk.compare("a", "b"))
    assert "different programs" in complaint and "cd" * 20 in complaint
    assert not (desk.folder / "c.json").exists()


def test_one_profile_is_nothing_to_compare(desk, refused):
    assert "two profiles or more" in refused(desk.compare("a"))


def test_a_comparison_of_other_profiles_is_refused(desk, refused):
    desk.put("c", compute_and_exchange().profile())
    desk.compare("b", "c")
    assert "does not compare the profile of p.json" in refused(desk.plan("a"))


def test_force_without_a_comparison_is_refused(desk, refused):
    desk.compare("a", "b")
    desk.plan("a")
    done = desk.kadence("plan", "p.json", "-o", "q", "--force", cwd=desk.folder)
    assert "--compare" in refused(done)


def test_three_inputs_have_their_families_in_common(desk):
    desk.put("c", compute_and_exchange().profile())
    desk.compare("c", "a", "b")
    inputs = desk.read("c.json")["inputs"]
    families = [[phase["family"] for phase in described["phases"]] for described in inputs]
    assert families == [[0, 1], [0, 2, 1], [0, 2, 1]]
    assert len(desk.read("c.json")["pairs"]) == 6


def test_the_same_profiles_give_the_same_bytes(desk):
    seen = set()
    for _ in range(2):
        options = ("--matrix", "m.png", "--annotated", "n.png")
        assert desk.compare("a", "b", options=options).returncode == 0
        seen.add(tuple((desk.folder / name).read_bytes() for name in ("c.json", "m.png", "n.png")))
    assert len(seen) == 1


def test_the_picture_holds_both_matrices_and_the_cross_matrix(desk):
    desk.compare("a", "b", options=("--matrix", "m.png"))
    picture = np.asarray(Image.open(desk.folder / "m.png")).astype(np.int64)
    own, other = (_shares(three_phases().profile(noise=noise)) for noise in (0.01, 0.02))
    side = ROWS + crossmatrix.GAP + ROWS
    assert picture.shape == (side, side)
    second = slice(ROWS + crossmatrix.GAP, side)
    upper = np.triu_indices(ROWS)
    for block, distances in (
        (picture[:ROWS, :ROWS], cdist(own, own, "cityblock")),
        (picture[second, second], cdist(other, other, "cityblock")),
    ):
        np.testing.assert_allclose(block[upper], distances[upper] / 2 * 65535, atol=1)
        assert (block[np.tril_indices(ROWS, -1)] == 65535).all()
    cross = cdist(own, other, "cityblock") / 2 * 65535
    np.testing.assert_allclose(picture[:ROWS, second], cross, atol=1)
    assert (picture[second, :ROWS] == 65535).all()
    assert (picture[ROWS : ROWS + crossmatrix.GAP] == 65535).all()


def _shares(profile: Profile) -> np.ndarray:
    dense = profile.vectors.tocsr().toarray()
    assert dense.shape[1] == len(BLOCKS) > COMPUTE
    return np.asarray(dense / dense.sum(axis=1, keepdims=True))


def test_long_runs_share_the_sides_of_the_picture_evenly():
    # Four kinds of work one after the other, each in its own blocks.
    kinds = np.repeat(np.arange(4), [2000, 1000, 2000, 500])
    vectors = sparse.csr_array(np.eye(len(BLOCKS))[kinds])
    long = replace(three_phases().profile(), vectors=vectors)
    short = replace(long, vectors=vectors[:30])
    picture = crossmatrix.cross_matrix(common_rows([long, short]))
    half = matrix.LARGEST_SIDE // 2
    assert picture.shape == (half + crossmatrix.GAP + 30,) * 2
    # 5,500 rows on 1,000 pixels: the first kind ends at pixel 363.6.
    assert (picture[0, :363] == 0).all()
    assert (picture[0, 364:half] == 65535).all()
    assert (picture[:363, half + crossmatrix.GAP :] == 0).all()
    side = crossmatrix.along_side([kinds, kinds[:30]], matrix.NOTHING)
    assert len(side) == len(picture)
    assert (side[:363] == 0).all() and (side[364:545] == 1).all()
    assert (side[half : half + crossmatrix.GAP] == matrix.NOTHING).all()
    assert (side[half + crossmatrix.GAP :] == 0).all()


def loops_of(length: int, cycles: int) -> Planted:
    """Three loops in turn, each `length` intervals long; for 0 each interval mixes all three."""
    planted = Planted()
    for _ in range(cycles):
        for letter in "CSX":
            for _ in range(length):
                planted.add({letter: 1.0})
        if not length:
            planted.add({"C": 0.3, "S": 0.3, "X": 0.4})
    return planted


@pytest.mark.parametrize(("length", "cycles"), [(0, 40), (1, 30), (3, 10)])
def test_longer_loops_of_the_same_code_are_the_same_program(desk, length, cycles):
    desk.put("long", loops_of(12, 4).profile())
    desk.put("short", loops_of(length, cycles).profile())
    done = desk.compare("long", "short")
    assert done.stdout.startswith("input-stable: 0.0%")


def test_an_input_with_work_that_the_other_lacks_is_refused_however_its_intervals_mix(desk):
    desk.put("long", loops_of(12, 4).profile())
    short = Planted()
    for _ in range(40):
        short.add({"C": 0.5, "F": 0.5})
    desk.put("short", short.profile())
    done = desk.compare("long", "short")
    assert done.stdout.startswith("input-dependent: 100.0%")
    unknown = {(pair["of"], pair["against"]): pair for pair in desk.read("c.json")["pairs"]}
    assert unknown[0, 1]["unknown"] == pytest.approx(2 / 3, abs=1e-6)
    assert unknown[0, 1]["scaled"] == pytest.approx(1 / 3, abs=1e-6)
