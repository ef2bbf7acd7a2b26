# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plan says of trials reaches the program, and libkadapt understands it."""

from pathlib import Path
from typing import Any

import pytest
from workshop import Workshop, marker

MACHINE = {"processor": "Fast Processor 9000", "kernel": "6.12", "memory_gib": 24}
KIND = "Fast Processor 9000\n6.12\n24"
READER = """
    #include <inttypes.h>
    #include <stdio.h>
    #include "libkadapt.h"
    const int kadapt_filter_anchor = 1;
    void kadapt_phase_enter(uint32_t phase) { (void)phase; }
    int main(void)
    {
        const struct kadapt_plan_learned *learned =
            (const void *)&kadapt_plan.policy[kadapt_plan.policies];
        printf("%x %016" PRIx64 "\\n", kadapt_plan.flags, kadapt_plan.id);
        for (uint32_t i = 0; i < kadapt_plan.policies; i++)
            printf("%u %u\\n", kadapt_plan.policy[i].tried, kadapt_plan.policy[i].visits);
        for (uint32_t i = 0; i < kadapt_plan.learned; i++)
            printf("%u %u %u %d %u %016" PRIx64 "\\n", learned[i].phase, learned[i].policy,
                   learned[i].level, learned[i].effect_ppm, learned[i].error_ppm,
                   learned[i].machine);
        return 0;
    }
"""


def fnv(text: str) -> int:
    """The 64-bit FNV-1a hash."""
    sum_ = 0xCBF29CE484222325
    for byte in text.encode():
        sum_ = (sum_ ^ byte) * 0x100000001B3 % (1 << 64)
    return sum_


def trials(**changes: Any) -> dict[str, Any]:
    """The member of a plan that is about trials."""
    learned = {
        "phase": 1,
        "policy": "memory",
        "level": 1,
        "machine": MACHINE,
        "effect": -0.031,
        "error": 0.004,
    }
    phases = [{"phase": 1, "policies": ["memory", "quantum"], "visits": 77}]
    member = {"mode": "on", "id": "00000000deadbeef", "phases": phases, "learned": [learned]}
    return member | changes


def told(workshop: Workshop, root: Path, **members: Any) -> list[str]:
    """What a program prints of its plan."""
    source = workshop.source("f.c", READER)
    plan = workshop.plan(marker("main"), **members)
    include = [f"-I{root / 'kadapt' / part}" for part in ("lib", "uapi")]
    workshop.compile(source, "-o", "program", *include, plan=plan)
    return workshop.run("./program").stdout.splitlines()


def test_trials_reach_the_program(workshop: Workshop, root: Path) -> None:
    first, *rest = told(workshop, root, trials=trials())
    assert first == "10 00000000deadbeef"
    assert rest == ["0 0", "9 77", f"1 8 1 -31000 4000 {fnv(KIND):016x}"]


def test_a_plan_may_forbid_trials(workshop: Workshop, root: Path) -> None:
    assert told(workshop, root, trials=trials(mode="off"))[0].split()[0] == "0"


def test_a_plan_without_trials_has_none(workshop: Workshop, root: Path) -> None:
    assert told(workshop, root) == ["0 0000000000000000", "0 0", "0 0"]


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "perhaps"},
        {"id": "beef"},
        {"id": None},
        {"phases": None},
        {"phases": [{"phase": 2, "policies": [], "visits": 1}]},
        {"phases": [{"phase": 1, "policies": ["luck"], "visits": 1}]},
        {"phases": [{"phase": 1, "policies": ["memory"], "visits": -1}]},
        {"learned": {}},
        {"learned": [{"phase": 1}]},
        {"learned": [trials()["learned"][0] | {"effect": 1e9}]},
        {"learned": [trials()["learned"][0] | {"error": -1}]},
        {"learned": [trials()["learned"][0] | {"machine": "fast"}]},
    ],
)
def test_damaged_trials_are_refused(workshop: Workshop, changes: dict[str, Any]) -> None:
    plan = workshop.plan(marker("main"), trials=trials(**changes))
    source = workshop.source("f.c", "int main(void) { return 0; }\n")
    done = workshop.compile(source, "-c", "-o", "f.o", plan=plan, check=False)
    assert done.returncode == 1
    assert "make it anew with `kadence plan`" in done.stderr
