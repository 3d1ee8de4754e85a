"""docs/configuration.md has each key of a profile and each environment variable that the sources read."""

import json
import re

from snippets_test import ROOT

PAGE = (ROOT / "docs/configuration.md").read_text()
FOLDERS = ("client", "cluster", "controller", "engine", "interpreters", "net", "os", "program", "python/polyxeus")


def first_column():
    """The names in the first cells of the tables: [[name, ...]]"""
    return [re.findall(r"`([\w.]+)`", line.split("|")[1]) for line in PAGE.splitlines() if line.startswith("|")]


def test_the_page_has_each_key_of_a_profile():
    table = (ROOT / "cluster/launch/settings.cpp").read_text()
    table = table[table.index("const std::vector<Key>& keys()") :]
    keys = set(re.findall(r'^      \{"(\w+)", "', table, re.M))
    assert len(keys) > 35
    documented = {name for names in first_column() for name in names}
    assert keys - documented == set()


def test_the_page_has_no_key_that_does_not_exist():
    tables = PAGE[PAGE.index("## The keys of") : PAGE.index("## A job script")]
    table = (ROOT / "cluster/launch/settings.cpp").read_text()
    for line in tables.splitlines():
        if line.startswith("| `"):
            for key in re.findall(r"`(\w+)`", line.split("|")[1]):
                assert f'{{"{key}", "' in table, key


def test_the_page_has_each_option_for_a_key():
    options = (ROOT / "cluster/commands/options.cpp").read_text()
    for option in re.findall(r"`(--[a-z-]+)`", PAGE[PAGE.index("## The keys of") : PAGE.index("## A job script")]):
        assert option in options, option


def test_the_page_has_each_environment_variable():
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.suffix in (".cpp", ".hpp", ".py")]
    read = {name for file in files for name in re.findall(r'"((?:POLYXEUS|IPP|PX)_[A-Z_]+)"', file.read_text())}
    assert len(read) > 12
    assert {name for name in read if f"`{name}`" not in PAGE} == set()


def test_the_examples_of_the_page_are_json():
    examples = re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)
    assert examples
    assert all(json.loads(example) for example in examples)
