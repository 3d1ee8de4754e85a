"""Checkpoints of C++ engines, and between the languages."""

import json

import numpy
import pytest

DATA = """
#include <map>
#include <string>
#include <vector>
std::vector<double> own{1.5, 2.5};
std::map<std::string, int> table{{"a", 1}};
std::string text = "text";
int step = 3;
struct Closed { int fd; } closed{3};
"""


@pytest.fixture(scope="module")
def cluster(new_cluster):
    """Two C++ engines and two Python engines."""
    cluster = new_cluster("languages")
    cluster.start_controller()
    cluster.start_engines(2, "--language=cpp")
    cluster.start_engines(2)
    return cluster


@pytest.fixture
def views(cluster):
    """(the C++ engines, the Python engines)."""
    from running_cluster import connect

    with connect(cluster.connection_file("client"), 4) as client:
        languages = client.languages
        yield [client[[each for each in client.ids if languages[each] == name]]
               for name in ("cpp", "python")]


def test_cpp_engines_get_their_variables_back(views, tmp_path):
    cpp, python = views
    cpp.execute(DATA, block=True)
    cpp.scatter("x", numpy.arange(10.0), block=True)
    told = cpp.checkpoint(tmp_path / "c")
    assert "not in it: closed" in repr(told)
    assert numpy.load(tmp_path / "c/000001/x.1.npy").tolist() == [5, 6, 7, 8, 9]
    cpp.execute("own.clear(); table.clear(); text = {}; step = 0; x = {};", block=True)
    cpp.restore(tmp_path / "c")
    assert cpp.pull("own", block=True)[1].tolist() == [1.5, 2.5]
    assert cpp.pull(["table", "text", "step"], block=True) == [[{"a": 1}, "text", 3]] * 2
    assert (cpp.gather("x", block=True) == numpy.arange(10.0)).all()
    again = cpp.checkpoint(tmp_path / "c", names=["x", "own"])
    assert again["linked"] > 0 == again["written"]
    cpp.client.clear(targets=cpp.targets, block=True)
    cpp.restore(tmp_path / "c" / "000001")
    cpp.execute("own.push_back(step);", block=True)
    assert cpp.pull("own", block=True)[0].tolist() == [1.5, 2.5, 3.0]


def test_the_languages_read_each_other(views, tmp_path):
    cpp, python = views
    cpp.client.clear(block=True)
    cpp.scatter("x", numpy.arange(11.0), block=True)
    cpp.checkpoint(tmp_path / "c", names="x")
    one = python.client[python.targets[:1]]
    one.restore(tmp_path / "c")
    assert one.pull("x.tolist()", block=True) == [list(range(11))]
    python.scatter("y", numpy.arange(9.0), block=True)
    python.execute("config = {'a': [1, 2]}; thing = object()", block=True)
    python.checkpoint(tmp_path / "p")
    single = cpp.client[cpp.targets[:1]]
    single.restore(tmp_path / "p", names=["y", "config"])
    assert single.pull("y", block=True)[0].tolist() == list(range(9))
    with pytest.raises(ValueError, match="a C\\+\\+ engine cannot read .*thing"):
        cpp.restore(tmp_path / "p", names="thing")


def test_errors_are_sentences(views, tmp_path):
    cpp, _ = views
    cpp.client.clear(block=True)
    with pytest.raises(ValueError, match="no variable nix is defined there"):
        cpp.checkpoint(tmp_path / "c", names="nix")
    with pytest.raises(OSError, match="cannot write a checkpoint into /proc/c on host"):
        cpp.checkpoint("/proc/c")
    cpp.execute("double z[3] = {1, 2, 3};", block=True)
    cpp.checkpoint(tmp_path / "c", names="z")
    manifest = json.loads((tmp_path / "c/000001/manifest.json").read_text())
    assert manifest["ranks"][0]["language"] == "cpp"
    with open(tmp_path / "c/000001/z.0.npy", "ab") as file:
        file.write(b"?")
    with pytest.raises(OSError, match="z.0.npy is damaged"):
        cpp.restore(tmp_path / "c")
