# SPDX-License-Identifier: GPL-2.0-or-later
"""Signatures of functions, as GCC writes them into an object file."""

import subprocess
from pathlib import Path

import pytest

from kadence.base.errors import KadenceError
from kadence.kadapt.live import btf, signatures
from kadence.kadapt.live.btf import Types

SOURCE = """
struct file;
typedef unsigned long count_t;
typedef int (*handler_t)(int);
enum mode { SLOW, FAST };
struct pair { int first, second; };
long plain(struct file *file, const char *text, count_t count, long long *position)
{ return 0; }
void nothing(void) {}
struct pair by_value(struct pair pair, enum mode mode, handler_t handler, _Bool flag)
{ return pair; }
int many(const volatile void *first, ...) { return 0; }
static __attribute__((noinline, used)) void kadence_variant_void(const void *first) {}
"""
TEXTS = {
    "plain": "signed integer of 8 bytes(struct file *, signed integer of 1 bytes *, "
    "unsigned integer of 8 bytes, signed integer of 8 bytes *)",
    "nothing": "void(void)",
    "by_value": "struct pair(struct pair, enumeration of 4 bytes, function *, "
    "unsigned integer of 1 bytes)",
    "many": "signed integer of 4 bytes(void *, …)",
    "kadence_variant_void": "void(void *)",
}


def types_of(folder: Path, source: str) -> Types:
    """The types of an object file that GCC made."""
    target = folder / "object.o"
    command = ["gcc-12", "-O2", "-gbtf", "-x", "c", "-c", "-o", target, "-"]
    subprocess.run(command, input=source, text=True, check=True)
    return btf.of_object(target)


def test_signatures_are_those_of_the_source(tmp_path: Path) -> None:
    types = types_of(tmp_path, SOURCE)
    assert {name: str(types.signature(name)) for name in TEXTS} == TEXTS
    assert types.signature("missing") is None


@pytest.mark.parametrize(
    ("unit", "why"),
    [
        ("long kadence_variant_f(int a, char *b) { return 0; }", None),
        ("void kadence_before_f(int a, char *b) {}", None),
        ("int kadence_variant_f(int a, char *b) { return 0; }", "in the kernel, but signed"),
        ("long kadence_variant_f(unsigned a, char *b) { return 0; }", "unsigned integer"),
        ("long kadence_variant_f(int a) { return 0; }", "in the unit"),
        ("void kadence_before_f(int a, long *b) {}", "signed integer of 8 bytes \\*"),
    ],
)
def test_unit_that_declares_another_function_is_refused(
    tmp_path: Path, unit: str, why: str | None
) -> None:
    kernel = types_of(tmp_path, "long f(int a, const char *b) { return 0; }")
    own = types_of(tmp_path, unit)
    if why is None:
        signatures.require_same(["f"], own, kernel)
        return
    with pytest.raises(KadenceError, match=why):
        signatures.require_same(["f"], own, kernel)


def test_function_without_types_is_refused(tmp_path: Path) -> None:
    types = types_of(tmp_path, SOURCE)
    with pytest.raises(KadenceError, match="does not say what the parameters of missing are"):
        signatures.require_same(["missing"], types, types)


@pytest.mark.parametrize("content", [b"", b"\x7fELF" * 10])
def test_what_is_no_btf_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="BTF"):
        Types(content)
