# SPDX-License-Identifier: GPL-2.0-or-later
"""Proof and repair, on toy kernels whose faults are known."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.base.errors import KadenceError
from kadence.kconfig.configuration import configure
from kadence.kconfig.store import store
from kadence.kernel import proof
from kadence.kernel.proof import FAILED, PASSED, REPAIRED
from kadence.kernel.tailoring import DEFAULT_BUDGET

Options = Callable[..., str]
NAMES = [f"PART{number}" for number in range(4)]


def on(*symbols: str) -> str:
    """A script that fails with the number of the symbol that is not on."""
    tests = [
        f"grep -q '^CONFIG_{symbol}=y' $CONFIG || exit {number}"
        for number, symbol in enumerate(symbols, start=40)
    ]
    return "\n".join(tests)


def written(kernel_id: str) -> Any:
    return json.loads((store.path_of(kernel_id) / "proof.json").read_text())


def test_a_kernel_that_serves_is_proven_once(workshop: Any) -> None:
    found = workshop.tailored(on("FUTEX"))
    assert found.proof.outcome == PASSED
    assert found.kernel is not None and found.kernel.kind == "tailored"
    # One run on the generic kernel for its outputs; check and run for each of two builds.
    assert len(workshop.guests.runs) == 1 + 2 * 2
    assert workshop.toy.times_built() == 2
    again = workshop.tailored(on("FUTEX"))
    assert again == found
    assert len(workshop.guests.runs) == 5


def test_the_proof_is_written_beside_the_kernel(workshop: Any) -> None:
    found = workshop.tailored("true", run="printf hello")
    document = written(found.kernel.id)
    assert (document["schema"], document["version"]) == ("kadence.proof", 1)
    assert document["id"] == found.kernel.id
    [row] = document["proofs"]
    assert (row["name"], row["run"], row["check"]) == ("p", ["sh", "run"], ["sh", "check"])
    # sha256sum of `hello`
    expected = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert row["outputs"] == {"standard output": expected}
    assert (row["repairs"], row["builds"], row["kernel"]) == ([], 0, found.kernel.id)


@pytest.mark.parametrize("culprits", [["PART2"], ["PART0", "PART3"]])
def test_what_was_dropped_too_much_is_put_back(
    culprits: list[str], workshop: Any, options: Options
) -> None:
    workshop.toy.define(options(*NAMES))
    found = workshop.tailored(on(*culprits), budget=100)
    assert found.proof.outcome == REPAIRED
    assert found.proof.minimal
    assert {repair.symbol for repair in found.proof.repairs} == set(culprits)
    config = configure.values(found.kernel.config)
    assert [name for name in NAMES if name in config] == culprits
    assert workshop.toy.times_built() == 2 + found.proof.builds
    assert "ended with status 40" in found.proof.reason


def test_a_repair_becomes_a_rule(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("PART"))
    [repair] = workshop.tailored(on("PART"), budget=12).proof.repairs
    [rule] = tomllib.loads(repair.rule)["rule"]
    assert rule["symbols"] == {"PART": "y"}
    assert rule["target"] == "um"
    assert "ended with status 40" in rule["reason"]


def test_a_rule_names_the_calls_that_tell(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("AIO"))
    found = workshop.tailored(on("AIO"), system_calls=["io_destroy", "read"], budget=100)
    assert {repair.symbol for repair in found.proof.repairs} == {"AIO"}
    [rule] = tomllib.loads(found.proof.repairs[0].rule)["rule"]
    assert rule["any_call"] == ["io_destroy"]


def test_only_the_kernels_that_matter_stay(workshop: Any, options: Options) -> None:
    workshop.toy.define(options(*NAMES))
    found = workshop.tailored(on("PART2"), budget=100)
    assert len(store.identifiers()) == 3  # generic, first tailored, repaired
    assert found.kernel.id in store.identifiers()
    runs = len(workshop.guests.runs)
    again = workshop.tailored(on("PART2"), budget=100)
    assert (again.proof, again.kernel.id) == (found.proof, found.kernel.id)
    assert len(workshop.guests.runs) == runs


def test_what_the_kernel_itself_names_is_tried_first(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("AIO", "IO_URING"))
    # 425 is io_uring_setup; patches/6.12/missing-call.patch makes the kernel log this line.
    line = "kadence: p made system call 425, which this kernel lacks"
    found = workshop.tailored(f"grep -q IO_URING=y $CONFIG || {{ echo '{line}' >$LOG; exit 9; }}")
    assert found.proof.builds == 1
    [repair] = found.proof.repairs
    assert repair.symbol == "IO_URING"
    assert "p asked for io_uring_setup, which this kernel lacks" in repair.reason


def test_what_rules_refuse_comes_before_the_rest(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("AIO", *NAMES))
    found = workshop.tailored(on("AIO"), budget=12)
    assert [repair.symbol for repair in found.proof.repairs] == ["AIO"]
    assert found.proof.builds == 1


def test_a_planted_removal_is_repaired(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("FUTEX", "FUTEX_PI"))
    planted = (("FUTEX", "n"), ("FUTEX_PI", "n"))
    found = workshop.tailored(on("FUTEX"), overrides=planted, budget=12)
    assert [repair.symbol for repair in found.proof.repairs] == ["FUTEX"]


def test_other_outputs_than_the_generic_kernel_s_are_a_failure(
    workshop: Any, options: Options
) -> None:
    workshop.toy.define(options("PART"))
    found = workshop.tailored("true", run="grep -c PART=y $CONFIG; true", budget=12)
    assert [repair.symbol for repair in found.proof.repairs] == ["PART"]
    assert "standard output of the plain program on the tailored kernel differs" in (
        found.proof.reason
    )


def test_what_differs_on_the_generic_kernel_too_proves_nothing(
    workshop: Any, options: Options
) -> None:
    workshop.toy.define(options("PART"))
    found = workshop.tailored("true", run="date +%N")
    assert (found.proof.outcome, found.kernel, found.proof.builds) == (FAILED, None, 0)
    assert "differs from run to run on the generic kernel too" in found.proof.reason


def test_nothing_mends_it(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("PART"))
    found = workshop.tailored("grep -q kadence-generic $CONFIG")
    assert (found.proof.outcome, found.kernel) == (FAILED, None)
    assert "putting back the generic kernel's symbols does not repair it" in found.proof.reason
    assert len(store.identifiers()) == 2
    base = next(k for k in map(store.load, store.identifiers()) if k.kind == "tailored")
    assert proof.serving(base) is None


def lacking(call: int, symbol: str) -> str:
    """A script that fails, with the kernel's own log line, if a call's symbol is off."""
    line = f"kadence: p made system call {call}, which this kernel lacks"
    return f"grep -q {symbol}=y $CONFIG || {{ echo '{line}' >>$LOG; failed=1; }}"


def test_all_that_a_failure_names_goes_back_at_once(workshop: Any, options: Options) -> None:
    # UNIX and INET depend on NET. Without it no process gets as far as to ask for either.
    families = "".join(
        f'config {name}\n\tbool "{name}"\n\tdefault y\n\tdepends on NET\n'
        for name in ("UNIX", "INET")
    )
    workshop.toy.define(options("NET", "SYSVIPC", "AIO", *NAMES) + families)
    calls = [lacking(41, "NET"), lacking(29, "SYSVIPC"), lacking(206, "AIO")]
    check = "\n".join([*calls, on("UNIX", "INET"), "exit $failed"])
    found = workshop.tailored(check)
    assert (found.proof.outcome, found.proof.builds) == (REPAIRED, 1)
    put_back = {repair.symbol for repair in found.proof.repairs}
    assert put_back == {"NET", "SYSVIPC", "AIO", "UNIX", "INET"}


def test_what_the_next_failure_names_goes_back_next(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("AIO", "IO_URING", *NAMES))
    steps = [lacking(206, "AIO"), "[ -z $failed ] || exit 1", lacking(425, "IO_URING")]
    found = workshop.tailored("\n".join([*steps, "exit $failed"]), budget=100)
    assert {repair.symbol for repair in found.proof.repairs} == {"AIO", "IO_URING"}
    assert found.proof.minimal


@pytest.mark.parametrize("culprits", [["PART0"], ["AIO", "PART3"], ["SUPPORT", *NAMES]])
def test_three_kernels_are_built_at_most(
    culprits: list[str], workshop: Any, options: Options
) -> None:
    workshop.toy.define(options("AIO", "SUPPORT", *NAMES))
    found = workshop.tailored(on(*culprits), budget=DEFAULT_BUDGET)
    assert found.proof.outcome == REPAIRED
    assert set(culprits) <= {repair.symbol for repair in found.proof.repairs}
    assert workshop.toy.times_built() <= 1 + 3  # and the generic kernel


def test_what_nothing_mends_costs_three_kernels_at_most(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("AIO", *NAMES))
    named = lacking(425, "IO_URING")
    found = workshop.tailored(f"{named}\ngrep -q kadence-generic $CONFIG", budget=DEFAULT_BUDGET)
    assert (found.proof.outcome, found.kernel) == (FAILED, None)
    assert workshop.toy.times_built() <= 1 + 3


def test_a_check_that_the_generic_kernel_fails_costs_no_repair(
    workshop: Any, options: Options
) -> None:
    workshop.toy.define(options("AIO", *NAMES))
    found = workshop.tailored("exit 7", budget=100)
    assert (found.proof.outcome, found.proof.builds) == (FAILED, 0)
    assert "on the generic kernel: the program's check ended with status 7" in found.proof.reason


def test_what_is_named_goes_back_whatever_the_generic_kernel_says(
    workshop: Any, options: Options
) -> None:
    """A tailored kernel may have what its program needs and the generic kernel lacks."""
    workshop.toy.define(options("AIO"))
    check = f"{lacking(206, 'AIO')}\n[ -z $failed ] && {on('FUTEX')}"
    found = workshop.tailored(check)
    assert (found.proof.outcome, found.proof.builds) == (REPAIRED, 1)
    assert [repair.symbol for repair in found.proof.repairs] == ["AIO"]


def test_a_larger_budget_goes_on(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("AIO", *NAMES))
    check = on("PART3")
    found = workshop.tailored(check, budget=0)
    assert (found.proof.outcome, found.kernel, found.proof.builds) == (FAILED, None, 0)
    assert "0 builds were not enough" in found.proof.reason
    before = workshop.toy.times_built()
    assert workshop.tailored(check, budget=0) == found
    assert workshop.toy.times_built() == before
    more = workshop.tailored(check, budget=100)
    assert more.proof.outcome == REPAIRED
    assert [repair.symbol for repair in more.proof.repairs] == ["PART3"]
    assert workshop.toy.times_built() == before + more.proof.builds


def test_without_a_budget_nothing_is_put_back(workshop: Any, options: Options) -> None:
    workshop.toy.define(options("PART"))
    found = workshop.tailored(on("PART"), budget=0)
    assert (found.proof.outcome, found.proof.builds) == (FAILED, 0)
    assert workshop.toy.times_built() == 2


def test_the_budget_ends_while_the_repair_is_made_smaller(workshop: Any, options: Options) -> None:
    workshop.toy.define(options(*NAMES))
    found = workshop.tailored(on("PART2"), budget=2)
    assert found.proof.outcome == REPAIRED
    assert not found.proof.minimal
    assert "PART2" in {repair.symbol for repair in found.proof.repairs}


def test_a_configuration_that_lacks_a_dependency_is_mended(workshop: Any, options: Options) -> None:
    text = 'config AIO\n\tbool "AIO"\n\tdepends on SUPPORT\n'
    workshop.toy.define(options("SUPPORT") + text)
    found = workshop.tailored(on("AIO"), system_calls=["io_setup"])
    assert (found.proof.outcome, found.proof.builds) == (REPAIRED, 0)
    [repair] = found.proof.repairs
    assert repair.symbol == "SUPPORT"
    assert "CONFIG_AIO=y" in repair.reason and "unmet dependency: SUPPORT" in repair.reason


def test_what_is_put_back_brings_its_dependencies(workshop: Any, options: Options) -> None:
    inner = 'config INNER\n\tbool "INNER"\n\tdefault y\n\tdepends on OUTER\n'
    workshop.toy.define(options("OUTER") + inner)
    found = workshop.tailored(on("INNER"), budget=100)
    assert [repair.symbol for repair in found.proof.repairs] == ["INNER"]
    assert configure.values(found.kernel.config)["OUTER"] == "y"


def test_what_is_put_back_may_select_what_a_rule_refuses(workshop: Any) -> None:
    text = 'config PART\n\tbool "PART"\n\tdefault y\n\tselect SWAP\nconfig SWAP\n\tbool "SWAP"\n'
    workshop.toy.define(text)
    found = workshop.tailored(on("PART"), budget=100)
    assert "PART" in {repair.symbol for repair in found.proof.repairs}
    assert configure.values(found.kernel.config)["SWAP"] == "y"


def test_a_kernel_that_cannot_be_built_leaves_the_generic_one(workshop: Any) -> None:
    tailoring = workshop.tailoring("true")
    workshop.toy.behave("echo 'toy.c:1:1: error: toys break'; exit 1")
    found = tailoring.tailor()
    assert (found.proof.outcome, found.kernel) == (FAILED, None)


def test_a_check_that_fails_here_judges_nothing(workshop: Any) -> None:
    tailoring = workshop.tailoring("true")
    for folder in tailoring.subject.folders.values():
        (folder / "check").write_text("exit 1\n")
    with pytest.raises(KadenceError, match="does not pass on this machine's own kernel"):
        tailoring.tailor()


def test_a_damaged_proof_is_told(workshop: Any) -> None:
    found = workshop.tailored("true")
    path: Path = store.path_of(found.kernel.id) / "proof.json"
    document = json.loads(path.read_text())
    del document["proofs"][0]["outcome"]
    path.write_text(json.dumps(document))
    with pytest.raises(KadenceError, match="remove it, and the kernel is proven anew"):
        workshop.tailored("true")


def test_a_kernel_may_be_proven_on_several_programs(workshop: Any) -> None:
    tailoring = workshop.tailoring("true")
    kernel = tailoring.tailor().kernel
    assert kernel is not None
    first = proof.last(kernel)
    assert first is not None
    other = proof.Proof(**(vars(first) | {"key": "other", "name": "q"}))
    proof.record(kernel, other, ["kadence"])
    assert proof.recall(kernel, "key", 12) == first
    assert proof.recall(kernel, "other", 12) == other
    assert proof.recall(kernel, "third", 12) is None
