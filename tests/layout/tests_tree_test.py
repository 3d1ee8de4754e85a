"""The tests lie where tests/README.md says, under names that tell them apart."""

import collections
import pathlib

from layout_test import root, tracked

# Their names are those of ipyparallel's own test files, which they import.
NAMED_BY_OTHERS = "tests/python/reference/"


def test_the_readme_names_each_folder_that_has_not_the_name_of_a_folder_of_sources():
    text = (root / "tests" / "README.md").read_text()
    folders = {str(pathlib.PurePath(path).parent.relative_to("tests")) for path in tracked("tests")}
    folders = {folder for folder in folders if folder != "." and not folder.startswith("fuzz/seeds/")}
    missing = {folder for folder in folders if f"`{folder}/`" not in text and not (root / folder).is_dir()}
    assert len(folders) > 40 and missing == set()


def test_the_name_of_a_python_test_file_stands_once():
    places = collections.defaultdict(list)
    for path in tracked("tests/*_test.py"):
        if not path.startswith(NAMED_BY_OTHERS):
            places[pathlib.PurePath(path).name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_the_test_of_a_cpp_file_lies_in_its_folder_or_above():
    sources = collections.defaultdict(list)
    for path in tracked("*.cpp", "*.hpp"):
        if not path.startswith("tests/"):
            sources[pathlib.PurePath(path).stem].append(pathlib.PurePath(path))
    wrong = []
    for path in map(pathlib.PurePath, tracked("tests/*_test.cpp")):
        folder = path.parent.relative_to("tests")
        tested = sources[path.stem.removesuffix("_test")]
        if tested and not any(folder in source.parents for source in tested):
            wrong.append(str(path))
    assert wrong == []
