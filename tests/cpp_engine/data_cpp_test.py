"""Data between Python and C++ engines."""

import numpy as np
import polyxeus as ipp
import pytest

from cells import run, shown


def test_arrays_go_there_and_back_with_their_type_and_shape(view):
    for array in (
        np.arange(12.0).reshape(3, 4),
        np.arange(5, dtype=np.int32),
        np.array([True, False]),
        np.array([1 + 2j, 3j]),
        np.zeros((0, 3)),
    ):
        view["a"] = array
        for back in view["a"]:
            assert back.dtype == array.dtype and back.shape == array.shape
            assert np.array_equal(back, array)


def test_large_arrays_go_through_shared_memory_and_belong_to_the_cell_that_has_them(view):
    array = np.arange(100_000.0).reshape(-1, 4)
    view["big"] = array
    run(view, "big(0, 0) += 1; big(24999, 3) += 1;")
    changed = array.copy()
    changed[0, 0] += 1
    changed[-1, -1] += 1
    for _ in range(2):  # a result that was changed here is no other's
        for back in view["big"]:
            assert np.array_equal(back, changed)
            back[:] = 0
    view.scatter("part", array.ravel())
    assert np.array_equal(view.gather("part"), array.ravel())
    run(view, "double last(const px::array<double, 2>& a) { return a(24999, 3); }")
    assert view.apply("last", array) == [array[-1, -1]] * 4


def test_cells_read_and_write_what_was_pushed(view):
    view["grid"] = np.arange(6.0).reshape(2, 3)
    run(view, "for (auto& value : grid) value *= 10; double corner = grid(1, 2);")
    assert view["corner"] == [50.0] * 4
    assert np.array_equal(view["grid"][0], 10 * np.arange(6.0).reshape(2, 3))


def test_scalars_text_lists_and_dicts_travel(view):
    values = {"i": 7, "f": 2.5, "b": True, "s": "née", "d": {"a": 1.5, "b": 2.0}}
    view.push(values)
    assert view.pull(list(values))[0] == list(values.values())
    view["l"] = [1, 2, 3]  # numbers of one type are a std::vector, which is an array on its way back
    assert np.array_equal(view["l"][0], [1, 2, 3])
    assert shown(run(view, "i + 1")) == ["8"] * 4


def test_what_cells_made_is_pulled_by_any_expression(view):
    run(view, 'std::vector<double> v{1, 2, 3}; std::map<std::string, int> m{{"a", 1}};')
    assert np.array_equal(view["v"][2], [1.0, 2.0, 3.0])
    assert view["m"] == [{"a": 1}] * 4
    assert view["v.size() + 1"] == [4] * 4


def test_a_declared_variable_keeps_its_type(rc):
    one = rc[[0]]
    one.block = True
    run(one, "std::vector<double> typed; int whole = 0;")
    one["typed"] = np.array([1.0, 2.0])
    assert shown(run(one, "typed.size()")) == ["2"]
    with pytest.raises(ipp.RemoteError, match="whole"):
        one["whole"] = "no number"
    assert one["whole"] == [0]


def test_functions_are_called_by_name_or_by_source(view):
    run(view, "double half(double x) { return x / 2; }")
    assert view.apply("half", 5.0) == [2.5] * 4
    assert view.apply("[](int a, int b) { return a * b; }", 6, 7) == [42] * 4


def test_scatter_and_gather_cut_arrays(view):
    view.scatter("part", np.arange(8.0))
    run(view, "for (auto& value : part) value += mpi_rank;")
    assert np.array_equal(view.gather("part"), np.arange(8.0) + np.repeat([0, 1, 2, 3], 2))


def test_a_missing_name_is_named(rc):
    with pytest.raises(ipp.RemoteError, match="nowhere"):
        rc[0].pull("nowhere", block=True)


def test_what_needs_a_pickle_is_refused_here(rc):
    with pytest.raises(TypeError, match="pickle"):
        rc[0].push({"o": object()})


def test_arrays_pass_between_python_and_cpp_engines(mixed):
    python, cpp = mixed[0], mixed[2]
    python.push({"x": np.arange(4.0)}, block=True)
    cpp.push({"x": python.pull("x", block=True)}, block=True)
    run(mixed[[2]], "for (auto& value : x) value = value * value;")
    assert np.array_equal(cpp.pull("x", block=True), [0.0, 1.0, 4.0, 9.0])


def test_arrays_are_exchanged_by_mpi_between_languages(mixed):
    values = np.arange(6, dtype="f4").reshape(2, 3)
    mixed[1].push({"grid": values}, block=True)
    mixed[:].exchange("grid", source=1)
    assert all(np.array_equal(each, values) for each in mixed[:].pull("grid", block=True))
    run(mixed[[3]], "for (auto& value : grid) value += 1;")
    mixed[:].exchange("grid", source=3)
    got = mixed[:].pull("grid", block=True)
    assert all(np.array_equal(each, values + 1) and each.dtype == "f4" for each in got)


def test_a_vector_is_exchanged_to_some_engines(mixed):
    run(mixed[[2]], "std::vector<long> counts{3, 1, 2};")
    mixed[[0, 3]].exchange("counts", source=2)
    assert [list(each) for each in mixed[[0, 3]].pull("counts", block=True)] == [[3, 1, 2]] * 2


def test_cpp_engines_form_a_gang(mixed):
    gang = mixed.gang([3, 2])
    run(gang, "int place = -1, total = 0, one = 1; MPI_Comm_rank(comm, &place);"
              "MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, comm);")  # fmt: skip
    assert gang.pull(["place", "total"], block=True) == [[0, 2], [1, 2]]


def test_engines_of_both_languages_form_a_gang(mixed):
    mixed.gang([1, 2], name="duo")
    code = "import array; met = array.array('i', [0]); duo.Allreduce(array.array('i', [20]), met)"
    python = mixed[1].execute(code, block=False)
    run(mixed[[2]], "int met = 0, own = 1; MPI_Allreduce(&own, &met, 1, MPI_INT, MPI_SUM, duo);")
    python.get(60)
    assert mixed[1].pull("met[0]", block=True) == mixed[2].pull("met", block=True) == 21


def test_what_cannot_be_exchanged_is_said(mixed):
    mixed[0].push({"words": ["a"]}, block=True)
    with pytest.raises(ipp.RemoteError, match="only arrays of numbers"):
        mixed[:].exchange("words", source=0)
    with pytest.raises(ipp.RemoteError, match="nowhere"):
        mixed[:].exchange("nowhere", source=2)
    with pytest.raises(IndexError, match="there is no engine 9"):
        mixed[:].exchange("words", source=9)
    assert mixed[:].pull("mpi_rank", block=True) == [0, 1, 2, 3]
