# SPDX-License-Identifier: GPL-2.0-or-later
"""An adapted program whose loops became batches makes the same calls, with the same results."""

import re
from pathlib import Path

import pytest
from compilers import GCC
from workshop import PROGRAMS, Workshop

# Compiler options -> the functions of batches.c whose loops do not become batches, and why.
BACKWARDS = {"write_backwards": "its pieces go backwards"}
WRAPPING = {"write_narrow": "its pieces are not at even distances"}
ALWAYS = BACKWARDS | WRAPPING
WAYS = {
    "-O1": ALWAYS,
    "-O2": ALWAYS,
    "-O3": ALWAYS,
    "-Os": ALWAYS | {"write_ignoring_results": "the number of its rounds can't be told before"},
    "-O2 -g": ALWAYS,
    "-O2 -fno-tree-ch": ALWAYS,
    "-O2 -fwrapv": ALWAYS
    | {
        "write_with_int_size": "its pieces are not at even distances",
        "write_what_is_left": "the number of its rounds can't be told before",
        "write_down_to_nothing": "the number of its rounds can't be told before",
    },
}


def scripted(workshop: Workshop, name: str, *options: str) -> Path:
    """Compile scripted_io.c, which defines write and send; returns the object file."""
    for needed in "scripted_io.c", "scripted_io.h":
        workshop.source(needed)
    target = workshop.directory / f"{name}.o"
    workshop.run(GCC, "-O2", *options, "-c", "scripted_io.c", "-o", target)
    return target


def compiled(workshop: Workshop, source: Path, way: str, verbose: bool = True) -> str:
    """Compile a program plain and adapted; returns the messages of the adapted compilation."""
    plain, adapted = scripted(workshop, "plain", "-DPLAIN"), scripted(workshop, "adapted")
    anchors = "const int kadapt_io_anchor = 1, kadapt_filter_anchor = 1;\n"
    workshop.source("anchor.c", anchors)
    site = {"function": None, "file": source.name, "calls": ["write", "send"]}
    plan = workshop.plan(io={"mode": "strict", "streams": False, "sites": [site]})
    workshop.run(GCC, *way.split(), source, plain, "-o", "plain")
    told = workshop.compile(
        source,
        str(adapted),
        "anchor.c",
        *way.split(),
        "-fchecking",
        *("-o", "adapted"),
        plan=plan,
        arguments=["verbose"] * verbose,
    )
    return told.stderr


def shapes() -> dict[int, str]:
    """Line -> function, for the functions of batches.c that contain the loops."""
    text = (PROGRAMS / "batches.c").read_text()
    begin, end = text.index("BEGIN shapes"), text.index("END shapes")
    found = {}
    for match in re.finditer(r"^static long (\w+)\(", text[begin:end], re.MULTILINE):
        found[text[: begin + match.start()].count("\n") + 1] = match.group(1)
    return found


def refusals(told: str) -> dict[str, str]:
    """Function -> reason why its loop is no batch, from the plugin's notes."""
    starts = shapes()
    notes = re.findall(r"batches\.c:(\d+):\d+: note: the loop of this call is no batch: (.*)", told)
    return {starts[max(s for s in starts if s <= int(line))]: reason for line, reason in notes}


@pytest.mark.parametrize("way", WAYS)
def test_every_shape_is_a_batch_or_says_why_not(workshop: Workshop, way: str) -> None:
    told = compiled(workshop, workshop.source("batches.c"), way)
    assert refusals(told) == WAYS[way]
    assert told.count("is one batch") == len(shapes()) - len(WAYS[way])


@pytest.mark.parametrize("way", ["-O0", *WAYS, "-O2 -flto"])
def test_batches_make_the_plain_programs_calls(workshop: Workshop, way: str) -> None:
    """Whole, short and failed pieces at every place, and sizes with which loops never end."""
    compiled(workshop, workshop.source("batches.c"), way, verbose=False)
    expected, found = (workshop.run(f"./{name}") for name in ("plain", "adapted"))
    assert found.stdout == expected.stdout
    batches = int(found.stderr.split()[0])
    assert batches == 0 if way == "-O0" else batches > 1000


LOOPS = {
    "another store": (
        "for (i = 0; i < n; i++) { log[i & 7] = i; write(1, p + 8 * i, 8); }",
        "it has another effect than the call",
    ),
    "another call": (
        "for (i = 0; i < n; i++) { write(1, p, 8); other(); }",
        "it has another effect than the call",
    ),
    "volatile load": (
        "for (i = 0; i < *flag; i++) write(1, p + 8 * i, 8);",
        "it has another effect than the call",
    ),
    "two calls": (
        "for (i = 0; i < n; i++) { write(1, p + 8 * i, 8); write(2, p + 8 * i, 8); }",
        "it has another effect than the call",
    ),
    "any int": (
        "for (i = 0; i < n; i++) write(*log, p + 8 * i, 8);",
        "it reads memory, which the call may change",
    ),
    "another int each time": (
        "for (i = 0; i < n; i++) write(log[i], p + 8 * i, 8);",
        "it reads memory, which the call may change",
    ),
    "the thread's own": (
        "for (i = 0; i < n; i++) write(own, p + 8 * i, 8);",
        "it reads memory, which the call may change",
    ),
    "division": (
        "for (i = 0; i < n; i++) write(n / (i - 3), p, 8);",
        "it may trap",
    ),
    "sizes that differ": (
        "for (i = 0; i < n; i++) write(1, p, i);",
        "descriptor, size or flags change from piece to piece",
    ),
    "descriptors that differ": (
        "for (i = 0; i < n; i++) write(i, p, 8);",
        "descriptor, size or flags change from piece to piece",
    ),
    "distances that differ": (
        "for (i = 0; i < n; i++) write(1, p + (long)i * i, 8);",
        "its pieces are not at even distances",
    ),
    "now and then": (
        "for (i = 0; i < n; i++) if (i % 3) write(1, p + 8 * i, 8);",
        "the call is not in every round",
    ),
    "what was written goes on": (
        "while (n > 0) { long r = write(1, p, 8); if (r < 0) break; p += r; n -= r; }",
        "its pieces are not at even distances",
    ),
    "for ever": (
        "for (;;) if (write(1, p, 8) != 8) break;",
        "nothing but an error ends it",
    ),
    "until whole": (
        "for (i = 0; i < n; i++) if (write(1, p, 8) == 8) break;",
        "a piece written whole ends it",
    ),
    "two ends": (
        "for (; i < n; i++) { if (p + 3 * i == (char *)log) break; write(1, p + 8 * i, 8); }",
        "more than one condition ends it",
    ),
}


@pytest.mark.parametrize(("loop", "reason"), LOOPS.values(), ids=LOOPS.keys())
def test_what_could_be_told_apart_stays_a_loop(workshop: Workshop, loop: str, reason: str) -> None:
    text = f"""
        #include <unistd.h>
        void other(void);
        extern __thread int own;
        void f(const char *p, int n, volatile int *flag, int *log)
        {{
                int i = 0, j = 0;
                {loop}
                (void)i, (void)j, (void)flag, (void)log;
        }}
    """
    source = workshop.source("f.c", text)
    options = ["-c", "-O2", "-w", "-fno-unroll-loops", "-fchecking", "-o", "f.o"]
    told = workshop.compile(source, *options, arguments=["redirect-all", "verbose"]).stderr
    assert f"is no batch: {reason}" in told
    assert "kadapt_batch" not in workshop.run("nm", "f.o").stdout


def test_a_call_that_a_destructor_waits_for_stays_a_loop(workshop: Workshop) -> None:
    text = """
        #include <unistd.h>
        struct held { ~held(); };
        void f(const char *p, int n)
        {
                held here;
                for (int i = 0; i < n; i++)
                        if (write(1, p + 8 * i, 8) != 8)
                                return;
        }
    """
    source = workshop.source("f.cc", text)
    arguments = ["redirect-all", "verbose"]
    told = workshop.compile(source, "-c", "-O2", "-o", "f.o", arguments=arguments).stderr
    assert "something in the function catches what the call throws" in told


MEMBERS = """
    #include <sys/socket.h>
    #include <stddef.h>
    struct peer { int descriptor; size_t size; };
    int total;
    int f(struct peer *peer, const char *p)
    {
            for (int i = 0; i < total; i++)
                    if (send(peer->descriptor, p + i * peer->size, peer->size, 0) < 0)
                            return -1;
            return 0;
    }
"""


def test_only_planned_sends_are_batches(workshop: Workshop) -> None:
    """libkadapt has no counterpart of a single send: a send outside a planned batch stays."""
    source = workshop.source("f.c", MEMBERS + "int one(int d) { return send(d, 0, 8, 0); }\n")
    batch, plain = "kadapt_batch_send", "send"
    for sites, found in (
        ([{"function": "f", "calls": ["send"]}], {batch, plain}),
        ([{"function": "f", "calls": ["write"]}], {plain}),
        ([{"function": "one", "calls": []}], {plain}),
    ):
        plan = workshop.plan(io={"mode": "strict", "streams": False, "sites": sites})
        workshop.compile(source, "-c", "-O2", "-fchecking", "-o", "f.o", plan=plan)
        undefined = set(workshop.run("nm", "-u", "-j", "f.o").stdout.split())
        # Ubuntu's compiler protects the stack.
        others = {"kadapt_io_anchor", "kadapt_filter_anchor", "__stack_chk_fail"}
        assert undefined - others == found


def test_members_and_variables_are_read_once(workshop: Workshop) -> None:
    """A send writes no memory of the program, but the plain compiler rereads them for each call."""
    source = workshop.source("f.c", MEMBERS)
    arguments = ["redirect-all", "verbose"]
    options = ["-c", "-O2", "-fchecking", "-o", "f.o"]
    assert "is one batch" in workshop.compile(source, *options, arguments=arguments).stderr
