# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules: a program's needs give exactly the symbols that the rules name."""

from dataclasses import replace
from pathlib import Path

import pytest

from kadence.base import resources
from kadence.base.errors import BuildError, UsageError
from kadence.kconfig.configuration import fragment, missing, rules
from kadence.kconfig.request import series
from kadence.kconfig.request.needs import Needs, read_needs
from kadence.kconfig.request.request import BuildRequest

GENERIC = BuildRequest(kind="generic")
TAILORED = BuildRequest(kind="tailored", plan=Path("p.plan.json"))


def symbols(request: BuildRequest, needs: Needs) -> dict[str, str]:
    return {wanted.symbol: wanted.value for wanted in rules.requested(request, needs)}


@pytest.fixture
def one_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the test's own rules."""
    home = tmp_path / "home"
    (home / "boot").mkdir(parents=True)
    (home / "boot/needs-um.toml").write_text(
        '[symbols]\nBOOTS = { value = "y", reason = "it boots" }\n'
    )
    monkeypatch.setenv("KADENCE_HOME", str(home))
    monkeypatch.setattr(rules, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("needs", "symbol", "otherwise"),
    [
        (Needs(system_calls=frozenset({"io_uring_setup"})), "IO_URING", "n"),
        (Needs(system_calls=frozenset({"io_submit"})), "AIO", "n"),
        (Needs(system_calls=frozenset({"inotify_init1"})), "INOTIFY_USER", None),
        (Needs(system_calls=frozenset({"shmget"})), "SYSVIPC", None),
        (Needs(socket_families=frozenset({1})), "UNIX", None),
        (Needs(socket_families=frozenset({2})), "INET", None),
        (Needs(socket_families=frozenset({10})), "IPV6", None),
        (Needs(io_paths=True), "KADAPT_RINGS", None),
        (Needs(memory=True), "KADAPT_MEMORY", None),
    ],
)
def test_a_need_switches_its_symbol_on(needs: Needs, symbol: str, otherwise: str | None) -> None:
    assert symbols(TAILORED, needs)[symbol] == "y"
    assert symbols(TAILORED, Needs()).get(symbol) == otherwise


def test_every_kernel_has_the_device_and_what_booting_needs() -> None:
    for request in (GENERIC, TAILORED):
        found = symbols(request, Needs())
        assert found["KADAPT"] == found["HOSTFS"] == "y"
        assert found["KADAPT_QUANTUM_MAX_MS"] == "10000"
        assert found["LOCALVERSION"] == f"-kadence-{request.kind}"


def test_a_generic_kernel_keeps_the_targets_configuration() -> None:
    found = symbols(GENERIC, Needs())
    assert not {"CGROUPS", "NET", "MODULES", "PREEMPT_NONE"} & set(found)


def test_a_tick_rate_is_asked_for_only_where_it_differs() -> None:
    assert "HZ" not in symbols(BuildRequest(hz=100), Needs())
    assert symbols(BuildRequest(hz=1000), Needs())["HZ"] == "1000"


def test_every_symbol_has_a_reason_in_the_fragment() -> None:
    requested = rules.requested(TAILORED, Needs())
    lines = fragment.render(TAILORED, requested).splitlines()
    for wanted in requested:
        assert wanted.reason
        assert wanted.reason in lines[lines.index(wanted.line) - 1]


def test_a_fragment_writes_values_as_kconfig_does(one_rule: Path) -> None:
    (one_rule / "a.toml").write_text(
        'precedence = 1\n[[rule]]\nsymbols = { A = "y", B = "n", C = "7", D = "0x1f", '
        'E = "a word" }\nreason = "because"\n'
    )
    text = fragment.render(GENERIC, rules.requested(GENERIC, Needs()))
    written = [line for line in text.splitlines() if "CONFIG_" in line]
    assert written == [
        "CONFIG_A=y",
        "# CONFIG_B is not set",
        "CONFIG_BOOTS=y",
        "CONFIG_C=7",
        "CONFIG_D=0x1f",
        'CONFIG_E="a word"',
    ]


def test_the_higher_precedence_wins(one_rule: Path) -> None:
    rule = '[[rule]]\nsymbols = {{ X = "{}" }}\nreason = "because"\n'
    (one_rule / "a.toml").write_text("precedence = 2\n" + rule.format("y"))
    (one_rule / "b.toml").write_text("precedence = 1\n" + rule.format("n"))
    assert symbols(GENERIC, Needs())["X"] == "y"


def test_two_rules_that_contradict_each_other_are_refused(one_rule: Path) -> None:
    rule = 'precedence = 1\n[[rule]]\nsymbols = {{ X = "{}" }}\nreason = "because"\n'
    (one_rule / "a.toml").write_text(rule.format("y"))
    (one_rule / "b.toml").write_text(rule.format("n"))
    with pytest.raises(BuildError, match=r"a\.toml wants X=y and b\.toml wants n"):
        rules.requested(GENERIC, Needs())


def test_an_unknown_key_of_a_rule_is_refused(one_rule: Path) -> None:
    (one_rule / "a.toml").write_text('precedence = 1\n[[rule]]\nsymbol = "X"\n')
    with pytest.raises(BuildError, match="'symbol'"):
        rules.requested(GENERIC, Needs())


@pytest.mark.parametrize(
    ("condition", "needs", "applies"),
    [
        ("threads = true", Needs(threads=True), True),
        ("threads = true", Needs(), False),
        ("processes = true", Needs(processes=True), True),
        ("shared_memory = false", Needs(), True),
        ("io_paths = true", Needs(io_paths=True), True),
        ("io_paths = true", Needs(), False),
        ("memory = true", Needs(memory=True), True),
        ("memory = true", Needs(), False),
        ("memory_above = 4096", Needs(memory_bytes=4096), True),
        ("memory_above = 4096", Needs(memory_bytes=4095), False),
        ('target = "um"', Needs(), True),
        ('target = "x86_64"', Needs(), False),
        ('any_call = ["a", "b"]', Needs(system_calls=frozenset({"b", "c"})), True),
        ('any_call = ["a", "b"]', Needs(system_calls=frozenset({"c"})), False),
        ('any_call = ["a"]\nthreads = true', Needs(system_calls=frozenset({"a"})), False),
        ('wants = ["hz"]', Needs(), False),
        ('wants_not = ["hz"]', Needs(), True),
        ('wants = ["generic"]', Needs(), True),
        ('wants_not = ["generic", "hz"]', Needs(), False),
        ('kinds = ["generic", "traced"]', Needs(), True),
        ('kinds = ["tailored"]', Needs(), False),
    ],
)
def test_a_rule_applies_when_all_its_conditions_hold(
    one_rule: Path, condition: str, needs: Needs, applies: bool
) -> None:
    (one_rule / "a.toml").write_text(
        f'precedence = 1\n[[rule]]\n{condition}\nsymbols = {{ X = "y" }}\nreason = "because"\n'
    )
    assert ("X" in symbols(GENERIC, needs)) == applies


@pytest.mark.parametrize(
    ("condition", "applies"),
    [
        ('any_call = ["nobody_makes_it"]', True),
        ("memory_above = 1000000000000", True),
        ("socket_family = 38\nthreads = true", True),
        ('target = "um"', False),
        ('kinds = ["tailored"]', False),
        ('wants = ["mitigations"]', False),
    ],
)
def test_a_traced_kernel_has_what_any_program_could_need(
    one_rule: Path, condition: str, applies: bool
) -> None:
    (one_rule / "a.toml").write_text(
        f'precedence = 1\n[[rule]]\n{condition}\nsymbols = {{ X = "y" }}\nreason = "because"\n'
    )
    traced = BuildRequest(kind="traced", target="x86_64")
    (resources.home() / "boot/needs-x86_64.toml").write_text("[symbols]\n")
    assert ("X" in symbols(traced, Needs())) == applies


def test_kinds_at_the_head_of_a_file_hold_for_all_of_its_rules(one_rule: Path) -> None:
    rule = '[[rule]]\nsymbols = { X = "y" }\nreason = "because"\n'
    (one_rule / "a.toml").write_text('precedence = 1\nkinds = ["tailored"]\n' + rule)
    assert "X" not in symbols(GENERIC, Needs())
    assert symbols(TAILORED, Needs())["X"] == "y"


def test_checked_kernels_have_two_processors_and_one_checker_each() -> None:
    """KASAN and KCSAN exclude one another."""
    memory, races = (
        symbols(BuildRequest(kind=kind, target="x86_64"), Needs())
        for kind in ("memory-checked", "race-checked")
    )
    assert memory["SMP"] == races["SMP"] == memory["PREEMPT"] == races["PREEMPT"] == "y"
    assert memory["KASAN"] == memory["PROVE_LOCKING"] == memory["DEBUG_KMEMLEAK"] == "y"
    assert races["KCSAN"] == races["KCSAN_EARLY_ENABLE"] == "y"
    assert "KCSAN" not in memory
    assert "KASAN" not in races


@pytest.mark.parametrize("needs", [Needs(threads=True), Needs(processes=True)])
def test_a_program_with_several_tasks_gets_several_processors(needs: Needs) -> None:
    request = replace(TAILORED, target="x86_64")
    several, single = symbols(request, needs), symbols(request, Needs())
    assert (several["SMP"], several["NR_CPUS"]) == ("y", "64")
    assert (single["SMP"], "NR_CPUS" in single) == ("n", False)
    traced = symbols(BuildRequest(kind="traced", target="x86_64"), needs)
    assert traced["SMP"] == "n"
    more = symbols(replace(request, overrides=(("NR_CPUS", "128"),)), needs)
    assert more["NR_CPUS"] == "128"


def test_mitigations_are_off_unless_asked_for() -> None:
    bare = BuildRequest(kind="tailored", plan=Path("p"), target="x86_64")
    assert symbols(bare, Needs())["CPU_MITIGATIONS"] == "n"
    asked_for = symbols(replace(bare, mitigations=True), Needs())
    assert asked_for["CPU_MITIGATIONS"] == asked_for["MITIGATION_RETPOLINE"] == "y"


def test_much_memory_gets_huge_pages() -> None:
    request = BuildRequest(kind="tailored", plan=Path("p"), target="x86_64")
    assert "TRANSPARENT_HUGEPAGE" not in symbols(request, Needs(memory_bytes=1 << 20))
    assert symbols(request, Needs(memory_bytes=1 << 23))["TRANSPARENT_HUGEPAGE_ALWAYS"] == "y"


@pytest.mark.parametrize("memory_bytes", [0, 1 << 23])
def test_planned_huge_pages_are_for_who_asks(memory_bytes: int) -> None:
    request = BuildRequest(kind="tailored", plan=Path("p"), target="x86_64")
    found = symbols(request, Needs(memory=True, memory_bytes=memory_bytes))
    assert found["TRANSPARENT_HUGEPAGE"] == found["TRANSPARENT_HUGEPAGE_MADVISE"] == "y"
    assert "TRANSPARENT_HUGEPAGE_ALWAYS" not in found
    assert found["INIT_ON_ALLOC_DEFAULT_ON"] == "n"
    # The option must also name the sizes of the kernel's own default, which it replaces.
    assert found["CMDLINE"] == "thp_anon=16K-1M:inherit;2M:inherit"


@pytest.mark.parametrize(("hz", "symbol"), [(None, "HZ_100"), (250, "HZ_250"), (1000, "HZ_1000")])
def test_the_tick_rate_of_x86_64_is_a_choice(hz: int | None, symbol: str) -> None:
    request = BuildRequest(kind="tailored", plan=Path("p"), target="x86_64", hz=hz)
    rates = {name for name in symbols(request, Needs()) if name.startswith("HZ_")}
    assert rates == {symbol}


def test_patches_are_for_their_series_target_and_word() -> None:
    words = frozenset({"tailored"})
    files = {
        (name, target): {patch.file for patch in series.patches_for(name, target, words)}
        for name in ("6.12", "6.1", "7.0", "7.3")
        for target in ("um", "x86_64")
    }
    missing_call = "6.12/missing-call.patch"
    of_guests = ("first-process", "register-state", "unlinked-file", "failed-fork", "stopped-guest")
    always = {f"6.12/um-{name}.patch" for name in (*of_guests, "reserve-space")}
    assert files["6.12", "um"] == {missing_call, *always, "6.12/um-memory.patch"}
    assert files["6.12", "x86_64"] == {missing_call, "6.12/x86-entry-alignment.patch"}
    names = ("first-process", "memory", "mmapper", "seccomp", "stopped-guest")
    assert files["7.3", "um"] == {
        "7.3/missing-call.patch",
        *(f"7.3/um-{name}.patch" for name in names),
    }
    assert all(files[key] == set() for key in files if key[0] in {"6.1", "7.0"})
    generic = series.patches_for("6.12", "um", frozenset({"generic"}))
    assert {patch.file for patch in generic} == {*always, "6.12/um-memory.patch"}
    assert series.patches_for("6.12", "x86_64", frozenset({"generic"})) == ()


@pytest.mark.parametrize(
    ("name", "there", "gone"),
    [("6.12", "PROC_SYSCTL", "SYSCTL"), ("7.3", "SYSCTL", "PROC_SYSCTL")],
)
def test_a_symbol_goes_by_its_name_in_the_series(name: str, there: str, gone: str) -> None:
    found = symbols(BuildRequest(kind="tailored", plan=Path("p"), series=name), Needs())
    assert found[there] == "y"
    assert gone not in found


def test_a_rule_for_a_series_holds_for_a_tree_of_it(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("VERSION = 7\nPATCHLEVEL = 3\n")
    found = symbols(BuildRequest(kind="tailored", plan=Path("p"), source=tmp_path), Needs())
    assert "SYSCTL" in found


@pytest.mark.parametrize(
    ("needs", "several"),
    [
        (Needs(), False),
        (Needs(threads=True), False),  # threads take turns
        (Needs(processes=True), True),
        (Needs(processes=True, memory=True), False),  # memory in bulk needs one processor
    ],
)
def test_processes_get_processors_where_the_series_has_them(needs: Needs, several: bool) -> None:
    plan = Path("p")
    found = symbols(BuildRequest(kind="tailored", plan=plan, series="7.3"), needs)
    assert ("SMP" in found) == several
    assert "SMP" not in symbols(BuildRequest(kind="tailored", plan=plan, series="6.12"), needs)


def test_a_socket_family_without_a_rule_is_refused() -> None:
    with pytest.raises(BuildError, match="socket family 30"):
        rules.requested(TAILORED, Needs(socket_families=frozenset({2, 30})))


@pytest.mark.parametrize(
    "request_",
    [
        BuildRequest(kind="tailored"),
        BuildRequest(kind="generic", plan=Path("p")),
        BuildRequest(target="sparc"),
        BuildRequest(series="2.4"),
        BuildRequest(hz=0),
        BuildRequest(hz=10**9),
        BuildRequest(kind="traced"),
        BuildRequest(kind="traced", target="x86_64", plan=Path("p")),
        BuildRequest(kind="memory-checked"),
        BuildRequest(kind="race-checked"),
        BuildRequest(kind="generic", trace=Path("t")),
        BuildRequest(kind="generic", target="x86_64", mitigations=True),
        BuildRequest(kind="tailored", plan=Path("p"), mitigations=True),
    ],
)
def test_requests_that_make_no_sense_are_refused(request_: BuildRequest) -> None:
    with pytest.raises(UsageError):
        request_.checked()


def test_the_needs_of_a_plan_are_read(write_plan: object) -> None:
    assert callable(write_plan)
    plan = write_plan(system_calls=["read"], socket_families=[2], threads=True, memory_bytes=5)
    assert read_needs(plan) == Needs(
        frozenset({"read"}), frozenset({2}), threads=True, memory_bytes=5
    )


@pytest.mark.parametrize("broken", [{"system_calls": None}, {"socket_families": ["inet"]}])
def test_a_plan_with_broken_needs_is_refused(write_plan: object, broken: dict[str, object]) -> None:
    assert callable(write_plan)
    with pytest.raises(Exception, match="is damaged: needs"):
        read_needs(write_plan(**broken))


def test_the_command_that_builds_a_kernel_names_its_series() -> None:
    assert BuildRequest(series="7.3").command()[-2:] == ["--series", "7.3"]
    assert BuildRequest(source=Path("tree")).command()[-2:] == ["--source", "tree"]


@pytest.mark.parametrize(
    ("needs", "symbol"),
    [
        (Needs(system_calls=frozenset({"shmctl"})), "SYSVIPC"),
        (Needs(system_calls=frozenset({"ioprio_set"})), "BLOCK"),
        (Needs(socket_families=frozenset({38})), "CRYPTO_USER_API_HASH"),
        (Needs(files=frozenset({"/proc/net/*"})), "NET"),
        (Needs(files=frozenset({"/dev/loop*"})), "BLK_DEV_LOOP"),
        (Needs(file_systems=frozenset({"ext4"})), "EXT4_FS"),
    ],
)
def test_what_helpers_ask_for_switches_its_symbol_on(needs: Needs, symbol: str) -> None:
    assert symbols(TAILORED, needs)[symbol] == "y"
    assert symbols(TAILORED, Needs()).get(symbol, "n") == "n"


@pytest.mark.parametrize("target", ["um", "x86_64"])
def test_what_rules_look_for_can_be_watched_for(target: str) -> None:
    known = rules.conditions(target)
    assert known.calls <= set(missing.numbers())
    assert {"shmget", "unshare"} <= known.calls and known.socket_families >= {1, 2, 10}
    assert not any("," in pattern for pattern in known.files)
    assert ("hugetlbfs" in known.file_systems) == (target == "x86_64")
