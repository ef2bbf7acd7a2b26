# SPDX-License-Identifier: GPL-2.0-or-later
"""How measured runs are divided, from made-up runs and from programs whose waiting is known."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from made_up import SAMPLE

from kadence.base import statistics
from kadence.measurement import execution, shares
from kadence.measurement.execution import Sample

RUN = replace(SAMPLE, program_seconds=1.0, boot_seconds=0.0, user_seconds=0.6)


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares.processors, "usable", lambda: 2)


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [
        *((0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634)),
        *((10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)),
    ],
)
def test_a_counted_share_has_wilsons_interval(
    part: int, whole: int, low: float, high: float
) -> None:
    """The last is the example of Newcombe (1998); the others follow from z = 1.959964."""
    found = statistics.share(part, whole)
    assert (found.low, found.high) == (pytest.approx(low, abs=6e-5), pytest.approx(high, abs=6e-5))
    assert found.value == pytest.approx(part / whole)


def test_of_nothing_counted_nothing_is_known() -> None:
    found = statistics.share(0, 0)
    assert (found.low, found.high) == (0.0, 1.0)


def test_all_but_the_programs_own_computing_can_be_gained() -> None:
    found = shares.of([RUN], 1)
    assert found.most.value == pytest.approx(0.4)
    assert found.kernel_share.value == pytest.approx(0.1)
    assert found.waited == pytest.approx(0.3)
    assert found.kernel_seconds.value == pytest.approx(0.1)


def test_time_that_other_work_took_is_not_counted() -> None:
    """Of 1 s, 0.2 s were others': 0.6 of 0.8 s are the program's own."""
    found = shares.of([replace(RUN, delay_seconds=0.2)], 1)
    assert found.delayed == pytest.approx(0.2)
    assert found.capacity == pytest.approx(0.8)
    assert found.most.value == pytest.approx(0.25)
    # It can not be longer than all that the run did not work.
    assert shares.of([replace(RUN, delay_seconds=0.9)], 1).waited == 0.0
    assert shares.undisturbed(replace(RUN, delay_seconds=0.2)) == pytest.approx(0.8)


def test_tasks_that_ran_at_once_could_use_several_processors() -> None:
    both = replace(RUN, user_seconds=1.5, system_seconds=0.1, delay_seconds=0.2)
    found = shares.of([both], 3)
    assert (found.capacity, found.delayed) == (2.0, 0.0)
    assert found.most.value == pytest.approx(0.25)
    assert found.waited == pytest.approx(0.4)
    # Tasks that took turns used one.
    assert shares.of([RUN], 3).capacity == 1.0


def test_the_interval_of_one_run_is_that_of_its_ticks() -> None:
    """The clock's unit is 100 a second: 70 ticks, 60 of them the program's own."""
    assert os.sysconf("SC_CLK_TCK") == 100
    own = statistics.share(60, 70)
    found = shares.of([RUN], 1).most
    assert found.low == pytest.approx(1 - 0.7 * own.high)
    assert found.high == pytest.approx(1 - 0.7 * own.low)


def test_the_interval_of_many_runs_holds_their_spread() -> None:
    runs = [replace(RUN, user_seconds=0.1 + 0.1 * number) for number in range(7)]
    found = shares.of(runs, 1).most
    assert found.value == pytest.approx(0.6)
    # The interval of a median of seven leaves out none: from the lowest to the highest.
    assert found.low <= 0.3 + 1e-9 and found.high >= 0.9 - 1e-9
    one, many = (shares.of([RUN] * count, 1).most for count in (1, 7))
    assert many.high - many.low < one.high - one.low


def test_a_run_that_does_nothing_waits() -> None:
    found = shares.of([replace(RUN, user_seconds=0.0, system_seconds=0.0)], 1)
    assert found.waited == pytest.approx(1.0)
    assert found.most.value == pytest.approx(1.0)


# ---- real runs -----------------------------------------------------------------------------------


SPIN = """
#include <time.h>
int main(int count, char **words)
{
    struct timespec now;
    (void)words;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (count == 1 ? now.tv_nsec < 200000000 && !now.tv_sec : 1);
    return 0;
}
"""


def run(argv: list[str], folder: Path) -> Sample:
    ending = execution.run(
        argv, folder, image=None, scratch=folder, environment=execution.environment()
    )
    assert ending.status == 0
    return ending.sample


def test_sleep_is_waiting_and_not_delay(tmp_path: Path) -> None:
    sample = run(["sleep", "0.3"], tmp_path)
    assert shares.of([sample], 1).waited >= 0.29
    assert sample.delay_seconds <= sample.program_seconds - 0.3


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="no CONFIG_SCHED_INFO")
def test_a_processor_that_is_shared_delays(tmp_path: Path) -> None:
    """Both are bound to one processor and want all of it."""
    place = tmp_path / "spin"
    subprocess.run(["gcc-12", "-O2", "-x", "c", "-o", place, "-"], input=SPIN.encode(), check=True)
    processor = str(min(os.sched_getaffinity(0)))
    bound = ["taskset", "-c", processor, str(place)]
    with subprocess.Popen([*bound, "forever"], start_new_session=True) as other:
        sample = run(bound, tmp_path)
        other.kill()
    # It has a quarter of the time at most in any of the scheduler's ways to share.
    assert sample.delay_seconds > 0.05
    assert sample.delay_seconds <= sample.program_seconds
