# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions for programs whose demand is known by construction, at given prices."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.base import artefact
from kadence.boot import costs
from kadence.boot.costs import Costs
from kadence.phases import analysis, planning
from kadence.phases.artefact import document
from kadence.prediction import demand, prediction, unadapted
from kadence.prediction.demand import Demand, Item
from kadence.prediction.prediction import Prediction, Timed
from kadence.prediction.unadapted import Market
from kadence.profiler.run import runner
from kadence.specialize import foresight

SOURCE = """\
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* So many calls, each of which does nothing, and so many first touches of pages. */
int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 0;
	long pages = argc > 2 ? atol(argv[2]) : 0;
	int protection = PROT_READ | PROT_WRITE;
	int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	volatile char *memory = mmap(NULL, (pages + 1) * 4096, protection, kind, -1, 0);

	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	for (long i = 0; i < pages; i++)
		memory[i * 4096] = 1;
	return 0;
}
"""
HERE = Costs({costs.COMPUTE: 1.0, costs.CALL: 100.0, costs.FAULT: 1000.0, costs.POPULATE: 500.0})
OTHERS = "other system calls"


def there(call: float, fault: float, accelerator: str = "native", compute: float = 1.0) -> Costs:
    prices = {costs.COMPUTE: compute, costs.CALL: call, costs.FAULT: fault, costs.POPULATE: 1500.0}
    return Costs(prices, accelerator=accelerator)


def asking(calls: int = 0, faults: int = 0, adapted: int = 0) -> Demand:
    items = [
        Item(OTHERS, {costs.CALL: calls}, calls),
        Item(demand.FAULTS, {costs.FAULT: faults}, faults, adapted),
    ]
    return Demand(tuple(item for item in items if item.count), 10**9)


def predicted(asked: Demand, seconds: float, call: float, fault: float) -> Prediction:
    return prediction.predict(asked, Timed(seconds, seconds), HERE, there(call, fault), "um")


# ---- at given prices -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [10_000, 100_000, 1_000_000])
def test_what_is_lost_is_in_proportion_to_the_calls(count: int) -> None:
    found = predicted(asking(calls=count), 1.0, call=10_100, fault=0)
    assert found.adapted - 1.0 == pytest.approx(count * 10_000e-9)


@pytest.mark.parametrize("count", [10_000, 100_000, 1_000_000])
def test_what_is_lost_is_in_proportion_to_the_faults(count: int) -> None:
    found = predicted(asking(faults=count), 1.0, call=0, fault=51_000)
    assert found.adapted - 1.0 == pytest.approx(count * 50_000e-9)


def test_the_verdict_turns_at_the_bound() -> None:
    """100,000 calls in a second: 5 µs more per call add half a second, which is the bound."""
    asked = asking(calls=100_000)
    assert prediction.BOUND == 1.5
    assert not predicted(asked, 1.0, call=5_099, fault=0).is_slow
    assert predicted(asked, 1.0, call=5_101, fault=0).is_slow


def test_a_run_that_loses_less_than_a_guest_s_start_is_not_stopped() -> None:
    assert not predicted(asking(calls=9_000), 0.001, call=10_100, fault=0).is_slow
    assert predicted(asking(calls=11_000), 0.001, call=10_100, fault=0).is_slow


def test_pages_that_are_made_present_in_bulk_cost_what_that_costs() -> None:
    found = predicted(asking(faults=100_000, adapted=90_000), 1.0, call=0, fault=51_000)
    assert found.plain - 1.0 == pytest.approx(100_000 * 50_000e-9)
    left = 10_000 * 51_000e-9 + 90_000 * 1_500e-9
    assert found.adapted - 1.0 == pytest.approx(left - 100_000 * 1_000e-9)


def test_no_run_takes_less_than_no_time() -> None:
    """At these prices the calls alone would cost ten times what the whole run took."""
    asked = Demand((Item(OTHERS, {costs.CALL: 100_000}, 100_000, 100_000),), 0)
    found = predicted(asked, 0.001, call=10_000, fault=0)
    assert (found.plain, found.adapted) == (pytest.approx(1.0), 0.0)
    guessed = Timed.guessed(asked, HERE)
    assert guessed.seconds == pytest.approx(100_000 * 100e-9)


def test_threads_share_the_one_processor() -> None:
    run = Timed(seconds=1.0, processor_seconds=2.0)
    assert prediction.predict(asking(), run, HERE, there(0, 0), "um").factor == 2.0
    assert prediction.predict(asking(), run, HERE, there(0, 0), "x86_64").factor == 1.0


def test_emulation_slows_computing_and_kvm_does_not() -> None:
    run = Timed(1.0, 1.0)
    for accelerator, factor in (("tcg", 12.0), ("kvm", 1.0)):
        prices = there(0, 0, accelerator, compute=12.0)
        found = prediction.predict(asking(), run, HERE, prices, "x86_64")
        assert found.factor == factor


# ---- the choice ----------------------------------------------------------------------------------


def test_no_kernel_is_built_for_what_loses_by_it_unless_asked_for() -> None:
    asked = asking(calls=1_000_000)
    slow = predicted(asked, 1.0, call=10_100, fault=0)
    target, sentence = foresight.choose([slow], asked, None)
    assert target is None
    assert "11.0 times" in sentence
    assert "1,000,000 system calls" in sentence
    assert "--target um" in sentence
    target, sentence = foresight.choose([slow], asked, "um")
    assert target == "um"
    assert "11.0 times" in sentence


def test_another_target_is_taken_where_it_is_predicted_to_be_better() -> None:
    asked = asking(calls=1_000_000)
    slow = predicted(asked, 1.0, call=10_100, fault=0)
    kvm = prediction.predict(asked, Timed(1, 1), HERE, there(100, 0, "kvm"), "x86_64")
    emulated = prediction.predict(asked, Timed(1, 1), HERE, there(0, 0, "tcg", 12.0), "x86_64")
    assert foresight.choose([slow, kvm], asked, None)[0] == "x86_64"
    assert foresight.choose([slow, emulated], asked, None)[0] is None


def test_what_loses_little_is_taken_as_before() -> None:
    asked = asking(calls=1_000)
    found = predicted(asked, 1.0, call=10_100, fault=0)
    assert foresight.choose([found], asked, None)[0] == "um"


# ---- what the plan leaves ------------------------------------------------------------------------


def plan_of(refused: tuple[str, ...] = (), reason: Any = None, count: Any = None) -> dict[str, Any]:
    return {
        "policies": [{"quantum_ns": 0}],
        "io": {"mode": "off", "reason": "no phase makes many writes", "sites": []},
        "memory": {"mode": "off", "reason": reason, "sites": [], "ahead": []},
        "refused": [{"phase": 0, "what": "memory", "count": count, "reason": x} for x in refused],
    }


def test_a_plan_that_does_nothing_says_why_with_the_figure() -> None:
    """58,500 faults at 53,000 ns are 3.1 s of a run of ten."""
    asked = asking(faults=58_500)
    prices = there(call=0, fault=53_000)
    seconds = 10 - 58_500 * 52_000e-9
    found = prediction.predict(asked, Timed(seconds, seconds), HERE, prices, "um")
    market = Market(HERE, prices, found)
    told = unadapted.sentences(asked, plan_of(("f: sparse",)), market)
    assert told[0].startswith("the plan changes nothing; 0 system calls and 58,500 page faults are")
    assert told[1] == (
        "58,500 page faults, 31 % of the run on User-Mode Linux, not adapted because f: sparse"
    )


def test_the_reason_for_most_of_it_is_told_first() -> None:
    reasons = {
        "70000 bytes by writes of 7 bytes on average to files: too few": 1,
        "9 writes of 11 bytes on average to pipes: too few": 9,
        "many writes of 6 bytes on average by fflush: flushed": 60_000,
        "f: another input writes of it no small records": None,
    }
    refused = [
        {"phase": 0, "what": "I/O path", "count": count, "reason": reason}
        for reason, count in reasons.items()
    ]
    plan = plan_of() | {"refused": refused}
    item = Item("writes to files", {costs.WRITE: 60_001}, 60_001)
    told = unadapted.sentences(Demand((item,), 10**9), plan, None)
    least, _, most, _ = reasons
    assert told[1] == (
        f"60,001 writes to files, not adapted because {most}; {least}; and 1 more of the "
        "plan's refusals"
    )


def test_a_site_with_more_faults_than_are_left_is_no_reason() -> None:
    plan = plan_of(("f: sparse",), count=19_000)
    told = unadapted.sentences(asking(faults=58_500, adapted=40_000), plan, None)[1]
    assert "18,500 of 58,500 page faults, not adapted because they are at sites with" in told


def test_without_prices_the_count_and_the_reason_are_told_all_the_same() -> None:
    told = unadapted.sentences(asking(faults=58_500), plan_of(reason="not wanted"), None)
    assert told[1] == "58,500 page faults, not adapted because not wanted"


def test_what_is_adapted_or_too_little_has_no_line() -> None:
    asked = asking(calls=70, faults=1_000_000, adapted=1_000_000)
    prices = there(call=10_000, fault=51_000)
    found = prediction.predict(asked, Timed(10, 10), HERE, prices, "um")
    plan = plan_of() | {"memory": {"mode": "default", "reason": None, "sites": [{}], "ahead": []}}
    assert unadapted.sentences(asked, plan, Market(HERE, prices, found)) == []


# ---- costs ---------------------------------------------------------------------------------------


def test_costs_are_read_and_estimated_from_tracing() -> None:
    assert costs.parse("call 100.50\ntrace 8000.00\n") == {"call": 100.5, "trace": 8000.0}
    found = costs.estimate(Costs({costs.CALL: 100.0, costs.TRACE: 8000.0, costs.COMPUTE: 1.0}))
    assert found.known == costs.ESTIMATED
    assert found.of(costs.CALL) == 8100
    assert found.of(costs.FAULT) == 24_000
    # Reading the clock makes no system call here, but makes one on the other kernel.
    assert found.of(costs.CLOCK) == 8000


def test_costs_of_this_machine_are_measured_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path))
    found = costs.own()
    assert set(found.nanoseconds) == {*costs.CHARGES, costs.TRACE}
    assert all(figure > 0 for figure in found.nanoseconds.values())
    monkeypatch.setattr(costs, "_measured", lambda charges: pytest.fail("measured again"))
    assert costs.own() == found
    # A damaged file of costs is measured anew.
    (tmp_path / "costs.json").write_text("[]")
    with pytest.raises(pytest.fail.Exception):
        costs.own()


def test_costs_are_had_where_nothing_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(costs, "_measured", lambda charges: HERE)
    assert costs.own() == HERE


def test_nothing_is_foretold_where_costs_can_not_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Costs:
        raise PermissionError

    monkeypatch.setattr(costs, "own", fail)
    asked = asking(calls=1_000_000)
    found = foresight.foresee(asked, Timed(1, 1), plan_of(), None, "6.12")
    assert (found.target, found.sentence) == ("um", "")
    assert "1,000,000 other system calls, not adapted" in found.left[1]


def test_no_work_costs_less_than_nothing() -> None:
    """7 writes of 1,000 pages each, where a record was measured as dearer than a page."""
    prices = Costs({costs.CALL: 100.0, costs.WRITE: 14_000.0, costs.WRITTEN_PAGE: 12_000.0})
    large = Item(demand.TO["file"], {costs.WRITE: 7 - 7000, costs.WRITTEN_PAGE: 7000}, 7)
    assert large.nanoseconds(prices, adapted=False) == pytest.approx(7 * 14_000)


@pytest.mark.kernel
def test_a_guest_is_charged_more_than_its_machine(generic_kernel: Any) -> None:
    own = costs.own()
    found = costs.of_guest(generic_kernel.image, generic_kernel.id, "um")
    assert set(found.nanoseconds) == set(costs.CHARGES)
    for charge in (costs.CALL, costs.CLOCK, costs.FAULT, costs.WRITE, costs.FORK):
        assert found.of(charge) > own.of(charge)
    assert found.of(costs.POPULATE) < found.of(costs.FAULT)


# ---- from a program to its demand ----------------------------------------------------------------


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("program") / "p"
    command = ["gcc-12", "-O2", "-x", "c", "-o", str(place), "-"]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    return place


def asked_by(program: Path, folder: Path, calls: int, pages: int) -> Demand:
    """The program's demand, from a real profile."""
    place = folder / f"{calls}-{pages}.kprof"
    runner.profile([str(program), str(calls), str(pages)], place)
    phases = place.with_suffix(".phases.json")
    analysis.run(place, phases)
    checked = document.load(phases)
    return demand.of(checked, planning.plan(checked, planning.Options()))


def test_a_program_asks_for_what_it_does(program: Path, tmp_path: Path) -> None:
    few, many = (
        asked_by(program, tmp_path, calls, pages) for calls, pages in ((1000, 500), (4000, 3500))
    )
    assert many.calls - few.calls == 3000
    assert many.faults - few.faults == 3000


# Enough for ten intervals: of three, the environment's length may move the writes out of the phase.
RECORDS, RECORD = 50_000, 16
WRITER = f"""
#include <fcntl.h>
#include <unistd.h>
int main(int count, char **arguments)
{{
    int file = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < {RECORDS}; i++)
        if (write(file, "0123456789abcdef", {RECORD}) != {RECORD})
            return 1;
    return count != 2;
}}
"""


def test_a_guests_standard_output_has_no_ring(tmp_path: Path) -> None:
    place, profile = tmp_path / "writer", tmp_path / "writer.kprof"
    source = tmp_path / "writer.c"
    source.write_text(WRITER)
    subprocess.run(["gcc-12", "-O2", "-g", "-o", place, source], check=True)
    runner.profile([str(place), str(tmp_path / "out")], profile)
    phases = tmp_path / "phases.json"
    analysis.run(profile, phases)
    checked = document.load(phases)
    plan = planning.plan(checked, planning.Options())
    for share in (0, 0.5, 1):
        asked = demand.of(checked, plan, int(share * RECORDS * RECORD))
        item = next(item for item in asked.items if item.what == demand.TO["file"])
        assert item.adapted == pytest.approx((1 - share) * RECORDS, abs=0.01 * RECORDS)


# ---- the whole flow ------------------------------------------------------------------------------


def test_a_program_that_would_lose_is_reported_without_a_kernel(
    kadence: Callable[..., Any], tmp_path: Path
) -> None:
    """200,000 calls in some milliseconds; the cache is empty, so no kernel was ever built."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "p.c").write_text(SOURCE)
    (folder / "Makefile").write_text("p: p.c\n\t$(CC) -O2 -o $@ $<\n")
    (folder / "kadence.toml").write_text(
        '[program]\nname = "p"\n[build]\ncommand = "make"\n[run]\ncommand = ["./p", "200000"]\n'
        '[check]\ncommand = ["./p"]\n'
    )
    environment = os.environ | {"KADENCE_CACHE": str(tmp_path / "cache")}
    output = tmp_path / "out"
    completed = kadence("specialize", folder, "-o", output, env=environment)
    assert completed.returncode == 3, completed.stderr
    sentence = next(line for line in completed.stderr.splitlines() if "will take" in line)
    assert "estimated without a kernel" in sentence
    lines = completed.stderr.splitlines()
    assert lines.index(sentence) < lines.index("kadence: build adapted …")
    kernels = (tmp_path / "cache" / "kernels").glob("[!.]*")
    assert list(kernels) == []  # the build that began beside the profile was given up
    report = json.loads((output / "report.json").read_text())
    assert report["prediction"]["target"] is None
    assert {cell["kernel"] for cell in report["cells"]} == {"machine"}
    said = sentence.removeprefix("kadence: ")
    assert said in completed.stdout
    assert any("other system calls" in note for note in report["notes"])
    assert list(report)[len(artefact.ENVELOPE) :][:2] == ["flags", "ceiling"]
    assert {each["flag"] for each in report["flags"]["tried"]} == {"-O3", "-march=native"}
    assert report["ceiling"]["takers"][0]["what"] == OTHERS
    assert 0 < report["ceiling"]["job"]["low"] <= report["ceiling"]["job"]["high"] <= 1
    page = (output / "report.html").read_text()
    assert said.replace("'", "&#39;") in page
    assert "None was built" in page
    assert page.index("The most that could be gained") < page.index("Time from request to result")
    for name in ("kprof", "phases.json", "plan.json", "prediction.json", "ceiling.json"):
        assert (output / f"p.{name}").is_file()
    # Without flags nothing is measured again.
    words = ["specialize", folder, "-o", output, "--no-flags"]
    assert "kadence: measure: unchanged" in kadence(*words, env=environment).stderr
    assert json.loads((output / "report.json").read_text())["flags"] is None
    # `plan` and `view` each say the same.
    told = kadence("plan", output / "p.phases.json", "-o", tmp_path / "plan.json", env=environment)
    left = next(line for line in told.stdout.splitlines() if "not adapted because" in line)
    assert "200," in left
    kadence("view", output / "p.phases.json", "--no-open", env=environment)
    assert left in (output / "p.html").read_text()
