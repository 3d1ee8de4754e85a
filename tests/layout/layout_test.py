"""The folders show the architecture: which folder may include which, how large one may be, and
where foreign libraries may be seen."""

import collections
import graphlib
import pathlib
import re
import subprocess

import pytest

root = pathlib.Path(__file__).parents[2]

# Each room and the rooms whose files it may include, beside its own.
rooms = {
    "wire": [],
    "os": ["wire"],
    "net": ["wire", "os"],
    "program": ["wire", "os", "net"],
    "interpreters": ["wire", "os"],
    "jupyter": ["wire", "os", "net", "interpreters"],
    "controller": ["wire", "os", "net", "program"],
    "engine": ["wire", "os", "net", "program", "interpreters", "jupyter"],
    "client": ["wire", "os", "net"],
    "magics": ["wire", "os", "net", "client"],
    "cluster": ["wire", "os", "net", "program", "client", "magics"],
    "kernel": ["wire", "os", "net", "program", "interpreters", "jupyter", "client", "magics"],
    "python": ["wire", "os", "net", "interpreters", "client", "magics"],
}

# A header of a foreign library, and the only folders that may include it.
foreign_headers = {
    r"zmq\.h(pp)?": ["net", "bench"],
    r"xeus/.*": ["jupyter"],
    r"pybind11/.*": ["interpreters/python", "engine/python", "kernel/python", "python"],
    r"(clang|llvm)/.*": ["interpreters/cpp"],
    r"mpi\.h": ["engine/cpp", "engine/mpi_calls", "engine/mpi_library"],
    r"CLI/.*": ["program", "controller", "engine", "cluster", "kernel", "bench"],
    r"spdlog/.*": ["program", "controller", "engine", "cluster", "kernel", "jupyter"],
    r"sqlite3\.h": ["controller/hub"],
    r"boost/.*": ["controller/web"],
}

most_sources = 25
most_own_includes = 14

# Installed as <polyxeus/client.hpp>.
public_header = "client/polyxeus_client.hpp"


def tracked(*patterns):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    output = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return [path for path in output.splitlines() if (root / path).exists()]


def cpp_files():
    return [path for path in tracked("*.cpp", "*.hpp")
            if not path.startswith(("docs/", "notebooks/", "tests/install/"))]


def room_of(path):
    return path.split("/")[0]


def includes(path):
    """-> (quoted, angled): what the file includes, as it is written."""
    text = (root / path).read_text()
    return (re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M),
            re.findall(r"^\s*#\s*include\s+<([^>]+)>", text, re.M))


def test_an_include_names_a_file_by_its_path_in_the_tree():
    wrong = []
    for path in cpp_files():
        quoted, angled = includes(path)
        generated = [name for name in quoted if name.endswith(".inc")]
        wrong += [f"{path}: {name}" for name in quoted
                  if name not in generated and not (root / name).is_file()]
        wrong += [f"{path}: <{name}>" for name in angled
                  if name.startswith("px/") or (root / name).is_file()]
    assert wrong == []


def test_no_file_of_the_tree_is_a_link():
    assert [path for path in tracked() if (root / path).is_symlink()] == []


def test_rooms_include_only_the_rooms_below_them():
    wrong = []
    seen = set()
    for path in cpp_files():
        room = room_of(path)
        if room not in rooms:
            continue
        for name in includes(path)[0]:
            other = room_of(name)
            seen.add((room, other))
            if other in rooms and other != room and other not in rooms[room]:
                wrong.append(f"{path} includes {name}")
    assert wrong == []
    assert ("client", "wire") in seen  # the files were read


def test_the_arrows_between_rooms_have_no_cycle():
    def below(room):
        return {other for each in rooms[room] for other in {each} | below(each)}

    for room in rooms:
        assert room not in below(room)


@pytest.mark.parametrize("room", rooms)
def test_the_folders_of_a_room_do_not_include_each_other_in_a_circle(room):
    included = collections.defaultdict(set)
    for path in cpp_files():
        folder = str(pathlib.PurePath(path).parent)
        others = {str(pathlib.PurePath(name).parent) for name in includes(path)[0]}
        if room_of(path) == room:
            included[folder] |= {other for other in others if room_of(other) == room} - {folder}
    assert included  # the files were read
    graphlib.TopologicalSorter(included).prepare()  # CycleError: names the folders of a circle


def test_no_file_includes_more_of_ours_than_a_reader_can_follow():
    counts = {path: sum((root / name).is_file() for name in includes(path)[0])
              for path in cpp_files() if room_of(path) in rooms and path != public_header}
    assert {path: count for path, count in counts.items() if count > most_own_includes} == {}


def test_controller_engine_and_client_never_include_each_other():
    for room in ("controller", "engine", "client"):
        assert not {"controller", "engine", "client"} & set(rooms[room])


@pytest.mark.parametrize("header", foreign_headers)
def test_a_foreign_library_is_seen_only_in_its_folders(header):
    folders = foreign_headers[header]
    users = [path for path in cpp_files()
             if not path.startswith("tests/") and "/prelude/" not in path
             and any(re.fullmatch(header, name) for name in includes(path)[1])]
    assert users, "nobody includes it: remove it from the table"
    assert [path for path in users
            if not any(path.startswith(folder + "/") for folder in folders)] == []


# Text that others wrote becomes values by wire/checked_json.hpp and wire/text.hpp alone: what the library
# and C's functions read has no bound of depth, or is cut to its type.
unchecked_readers = r"\b(Json|json|ordered_json)::(parse|from_msgpack|sax_parse)\(|\bato[il]\(|get<int>\(\)"
# What these read was written by us and is not changed by others.
checked_readers = ["wire/json.cpp", "interpreters/cpp", "client/checkpoints", "cluster/records/cluster_list.cpp",
                   "cluster/remote/watch_report.cpp", "cluster/remote/reverse_tunnel.cpp"]


def test_text_becomes_values_in_one_checked_way():
    wrong = [f"{path}: {line.strip()}" for path in cpp_files()
             if not path.startswith(("tests/", "bench/", *checked_readers))
             for line in (root / path).read_text().splitlines() if re.search(unchecked_readers, line)]
    assert wrong == []


def test_no_folder_has_more_sources_than_a_newcomer_can_take_in():
    counts = collections.Counter(str(pathlib.PurePath(path).parent)
                                 for path in tracked("*.cpp", "*.py"))
    assert {folder: count for folder, count in counts.items() if count > most_sources} == {}


def namespaces_of_classes(path):
    """(namespace, class) of every class that the file defines outside of other classes."""
    stack = []
    for line in (root / path).read_text().splitlines():
        opened = re.match(r"namespace ([\w:]*) ?\{$", line) or re.match(r"namespace() ?\{$", line)
        if opened:
            stack.append(opened.group(1))
        elif re.match(r"\}\s+// namespace", line):
            stack and stack.pop()
        found = re.match(r"(?:class|struct|enum class|enum) (\w+)(?: final)?(?: :[^;{]*)? \{", line)
        if found and "" not in stack:
            yield "::".join(stack), found.group(1)


def public_headers():
    """What the public header includes, directly or not, and itself."""
    found, rest = set(), [public_header]
    while rest:
        path = rest.pop()
        if path not in found:
            found.add(path)
            rest += includes(path)[0]
    return found


def test_the_installed_headers_are_those_that_the_public_header_needs():
    listing = re.search(r"set\(px_public_headers\s+([^)]*)\)",
                        (root / "cmake/install.cmake").read_text())
    assert listing.group(1).split() == sorted(public_headers())


def test_the_public_headers_need_no_library_but_json():
    foreign = {name for path in public_headers() for name in includes(path)[1]
               if "/" in name or "." in name}
    assert foreign == {"nlohmann/json.hpp", "px_version.hpp"}


def test_a_class_name_stands_once_in_its_namespace():
    places = collections.defaultdict(set)
    for path in cpp_files():
        if path.startswith(("tests/", "interpreters/cpp/prelude/", "kernel/cpp/prelude/")):
            continue
        for found in namespaces_of_classes(path):
            places[found].add(path)
    assert len(places) > 200  # the files were read
    assert {found: paths for found, paths in places.items() if len(paths) > 1} == {}


# A class or enum, nested ones too; neither a declaration of one, nor a specialization, nor a class that only its own
# source completes (struct Server::State).
type_definition = re.compile(r"^\s*(?:template ?<.*> ?)?(?:class|struct|union|enum(?: class)?) (?:\[\[\w+\]\] )?"
                             r"(\w+)(?: final)?(?=$|:$| ?: | \{)", re.M)
most_types_of_a_name = 2


def test_a_reader_who_knows_the_name_of_a_type_knows_the_type():
    places = collections.defaultdict(list)
    for path in cpp_files():
        if room_of(path) in rooms:
            for name in type_definition.findall((root / path).read_text()):
                places[name].append(path)
    assert len(places) > 900  # the files were read
    assert {name: paths for name, paths in places.items()
            if len(paths) > most_types_of_a_name} == {}


def test_every_file_of_a_room_is_in_the_namespace_of_the_room():
    wrong = []
    for path in cpp_files():
        room = room_of(path)
        if room not in rooms or "/prelude/" in path or path.endswith("main.cpp"):
            continue
        if path == public_header:  # it lifts names of px::client to px
            continue
        wanted = {"wire": "px", "python": "px::bindings"}.get(room, f"px::{room}")
        if path.startswith(("interpreters/cpp/", "interpreters/python/")):
            wanted = f"px::{path.split('/')[1]}"
        found = set(re.findall(r"^namespace (px[\w:]*) \{", (root / path).read_text(), re.M))
        if found and not found <= {wanted}:
            wrong.append(f"{path}: {sorted(found)}, not {wanted}")
    assert wrong == []


def test_every_room_says_at_its_door_what_lives_there():
    for room in rooms:
        text = (root / room / "README.md").read_text()
        assert "May include" in text or "may include" in text.replace("\n", " ").lower()
        assert "Threads:" in text
