"""How outputs are held against the lines that they are to match."""

from foreign_files import cut
from transcripts import is_about_type_or_place, unmatched


def missing(text, *outputs):
    return [check.pattern for _, check in unmatched(cut(text), list(outputs))]


def test_lines_are_found_in_their_order():
    text = "f()\n// CHECK: one\ng()\n// CHECK-NEXT: two"
    assert missing(text, "one", "two") == []
    assert missing(text, "two", "one") == ["two"]


def test_one_line_that_is_missing_hides_no_other():
    assert missing("f()\n// CHECK: lost\n// CHECK: found", "found") == ["lost"]


def test_regular_expressions_and_variables():
    text = "f() // CHECK: [[A:0x[0-9]+]] {{[a-z]+}}(1)\ng() // CHECK: same [[A]]"
    assert missing(text, "0x17 abc(1)", "same 0x17") == []
    assert missing(text, "0x17 abc(1)", "same 0x18") == ["same [[A]]"]


def test_values_are_compared_without_their_types():
    assert missing("1 // CHECK: (int) 1", "1") == []
    assert missing("1 // CHECK: (int) 1", "(int) 1") == []
    assert missing("1 // CHECK: (int) 1", "2") == ["(int) 1"]


def test_what_must_not_be_there_is_looked_for_between_its_neighbours():
    text = "f()\n// CHECK: one\n// CHECK-NOT: bad\ng()\n// CHECK: two"
    assert missing(text, "bad one", "two bad") == []
    assert missing(text, "one bad", "two") == ["bad"]
    assert missing("f() // CHECK-NOT: bad", "bad") == ["bad"]


def test_addresses_are_told_from_values():
    of_address, of_value = cut("a // CHECK: (S &) @0x{{[0-9a-f]+}}\nb // CHECK: (int) 3")
    assert is_about_type_or_place(of_address.checks[0])
    assert not is_about_type_or_place(of_value.checks[0])
