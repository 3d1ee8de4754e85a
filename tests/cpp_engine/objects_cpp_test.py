"""Objects of C++ classes on C++ engines, and calls of methods."""

import numpy as np
import polyxeus as px
import pytest
from deadlines import wait_until

from cells import run

CLASSES = """
#include <map>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>
struct Counter {
  explicit Counter(int n) : n(n) { if (n < 0) throw std::invalid_argument("a negative number"); ++count; }
  ~Counter() { --count; }
  int add(int k) { return n += k; }
  double half(double x) const { return x / 2; }
  int half(int x) const { return x / 2; }
  std::vector<double> scaled(const std::vector<double>& x) const { auto y = x; for (double& each : y) each *= n; return y; }
  std::string named(std::string_view name, const std::map<std::string, int>& m) noexcept { return std::string(name) + std::to_string(m.at("k")); }
  int n;
  std::function<double(double)> function = [this](double x) { return n + x; };
  static inline int count = 0;
};
struct Pair { double first, second; };
"""


@pytest.fixture(scope="module")
def classes(running):
    with px.Client(profile="cpp") as client:
        client.wait_for_engines(4, timeout=60)
        run(client[:], CLASSES)


@pytest.fixture
def direct(classes, rc):
    return rc[:]


# ---------------------------------------------------------------- methods


def test_arguments_of_methods_are_converted_to_the_types_of_their_parameters(direct):
    run(direct, "Counter two(2); auto three = std::make_shared<Counter>(3); const Counter& same = two;")
    assert np.array_equal(direct.apply_sync("two.scaled", np.arange(3.0)), [[0, 2, 4]] * 4)
    assert np.array_equal(direct.apply_sync("three->scaled", [1, 2]), [[3, 6]] * 4)
    assert np.array_equal(direct.apply_sync("same.scaled", np.arange(2)), [[0, 2]] * 4)
    assert direct.apply_sync("two.named", "k=", {"k": 5}) == ["k=5"] * 4
    assert direct.apply_sync("(*three).add", 1) == [4] * 4
    assert direct.apply_sync("two.function", 1) == [3.0] * 4
    assert direct.apply_sync("Counter(7).add", 1) == [8] * 4


def test_overloaded_methods_are_chosen_by_the_arguments(direct):
    run(direct, "Counter chosen(2);")
    assert direct.apply_sync("chosen.half", 3) == [1] * 4
    assert direct.apply_sync("chosen.half", 3.0) == [1.5] * 4


def test_a_method_is_mapped(direct):
    run(direct, "Counter mapped(2);")
    assert np.array_equal(direct.map_sync("mapped.add", [1, 1, 1, 1, 1, 1, 1, 1]), [3, 4] * 4)


def test_a_number_of_arguments_that_is_wrong_is_said(direct):
    run(direct, "Counter strict(2);")
    with pytest.raises(px.CompositeError, match="1 argument"):
        direct.apply_sync("strict.scaled", [1], 2)


# ---------------------------------------------------------------- objects


def test_an_object_lives_on_each_engine_until_its_proxy_ends(direct):
    before = direct["Counter::count"]
    counter = direct.spawn("Counter", 5)
    assert counter.spawned.get() == [None] * 4
    assert counter.add(3).get() == [8] * 4
    assert counter[2].add(1).get() == 9
    assert counter.attribute("n").get() == [8, 8, 9, 8]
    assert np.array_equal(counter[0].scaled(np.arange(2.0)).get(), [0, 8])
    assert repr(counter) == "<Actor(Counter): engines 0, 1, 2, 3>"
    del counter
    wait_until(lambda: direct["Counter::count"] == before, "the objects are freed", 20)
    with direct.spawn("Counter", 1) as other:
        assert other.add(1).get() == [2] * 4
    assert direct["Counter::count"] == before
    with pytest.raises(RuntimeError, match="freed by close"):
        other.add(1)


def test_classes_of_the_library_and_aggregates_are_made_too(direct):
    numbers = direct.spawn("std::vector<int>", 3)
    assert numbers.size().get() == [3] * 4
    assert direct.spawn("Pair", 1.5, 2.5).attribute("second").get() == [2.5] * 4


def test_a_balanced_view_makes_one_object(rc, classes):
    counter = rc.load_balanced_view().spawn("Counter", 1)
    assert counter.targets in range(4)
    assert counter.add(1).get() == 2


def test_a_failed_constructor_fails_each_call(direct):
    counter = direct.spawn("Counter", -1)
    with pytest.raises(px.CompositeError, match="a negative number"):
        counter.spawned.get()
    with pytest.raises(px.CompositeError, match="there is no Counter: its constructor has failed"):
        counter.add(1).get()
    with pytest.raises(px.CompositeError, match="undeclared identifier 'Nothing'"):
        direct.spawn("Nothing").spawned.get()
    with pytest.raises(px.CompositeError, match="no member named 'nothing' in 'Counter'"):
        direct.spawn("Counter", 1).nothing().get()


def test_what_objects_of_cpp_cannot_do_is_said(direct, rc):
    counter = direct.spawn("Counter", 1)
    for impossible in (lambda: list(counter[0].stream("add")), lambda: counter.checkpoint("/nowhere")):
        with pytest.raises(TypeError, match="neither streams nor checkpoints"):
            impossible()
    with pytest.raises(TypeError, match="pass k by position"):
        counter.add(k=1)
    with pytest.raises(TypeError, match="pass n by position"):
        direct.spawn("Counter", n=1)
    with pytest.raises(ValueError, match="not the name of a C.. member"):
        counter.call("add(1); Counter(2)")
    with pytest.raises(TypeError, match="without a pickle"):
        direct.apply("counter.add", counter)
    for view in (direct, rc.load_balanced_view()):
        with pytest.raises(TypeError, match="Python classes need engines that run Python"):
            view.spawn(dict)


def test_another_client_calls_the_objects_by_bind(direct):
    counter = direct.spawn("Counter", 1)
    with px.Client(profile="cpp") as other:
        assert counter.bind(other).add(1).get() == [2] * 4
    assert counter.add(1).get() == [3] * 4
