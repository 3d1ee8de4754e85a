"""The sources of a room can be compiled together, as all builds but preset dev do: what a file has for itself, in an
unnamed namespace, has a name that stands once in its room, its headers included. Functions may differ by their parameters."""

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
TYPE = re.compile(r"(?:template <.*> )?(?:(?:struct|class|enum class|enum) (\w+)|using (\w+) =)")
OTHER = re.compile(r"[^(={;]*?(\w+)(?:\[\w*\])? ?([(={;].*)")


PARTS = ("interpreters/cpp/*", "interpreters/python", "engine/cpp", "engine/mpi_calls", "kernel/cpp", "python/bindings")


def texts_in(folders):
    """[{path: text} of the sources of these folders, the same of their headers]; without what becomes text in a program."""
    return [{str(path.relative_to(ROOT)): path.read_text()
             for folder in folders for path in sorted(ROOT.glob(f"{folder}/{pattern}")) if "prelude" not in path.parts}
            for pattern in ("*.cpp", "*.hpp")]  # fmt: skip


def files_of_rooms():
    """texts_in() each room of CMakeLists.txt, and each of PARTS."""
    text = (ROOT / "CMakeLists.txt").read_text()
    for room, folders in re.findall(r"^px_room\((\w+)(?: FOLDERS ([\w ]+?))? LINKS", text, re.M):
        yield texts_in([room, *(f"{room}/{name}" for name in folders.split())])
    for part in PARTS:
        yield texts_in([part])


def own_names(text):
    """(name, the types of its parameters or None) of what stands in unnamed namespaces of a file."""
    for part in re.findall(r"^namespace \{$(.*?)^\}  // namespace$", text, re.M | re.S):
        for statement in re.findall(r"^(?![ }/#\n]).*?(?:[;{]|:$)", part, re.M | re.S):
            statement = re.sub(r"\[\[\w+\]\] ", "", " ".join(statement.split()))
            if statement.startswith("namespace "):
                continue  # a short name for another namespace, which two files may make
            if kind := TYPE.match(statement):
                yield kind[1] or kind[2], None
            elif not statement.startswith("using ") and (found := OTHER.fullmatch(statement)):
                yield found[1], parameter_types(found[2]) if found[2].startswith("(") else None
                if not found[2].startswith("("):
                    yield from ((name, None) for name in further_names(found[2]))


def further_names(text):
    """"= most(1, 2), b = {3}, *c;" -> ["b", "c"]"""
    while text != (text := re.sub(r"\([^()]*\)|{[^{}]*}|<[^<>]*>", "", text)):
        pass
    return re.findall(r", ?[*&]*(\w+)(?= ?[=;,{\[])", text)


def parameter_types(text):
    """"(const Json& a, int b)" -> "const Json&, int" """
    inside = text[1 : text.rindex(")")] if ")" in text else text
    return ", ".join(re.sub(r"\s*(?<=[\s&*>])\w+(?: = .*)?$", "", each.strip()) for each in inside.split(", "))


def header_names(text):
    """(name, the types of its parameters or None) of the inline functions and constants of a header."""
    for statement in re.findall(r"^inline .*?(?:[;{]|$(?=\n\S))", text, re.M | re.S):
        if found := OTHER.fullmatch(" ".join(statement.split())):
            yield found[1], parameter_types(found[2]) if found[2].startswith("(") else None


def clashes(files, headers=None):
    """[a sentence for each name that two of the files, or a file and a header, have]. files  {path: text}"""
    places = collections.defaultdict(dict)
    for names, texts in ((own_names, files), (header_names, headers or {})):
        for path, text in texts.items():
            for name, parameters in names(text):
                places[name].setdefault(path, set()).add(parameters)
    for name, users in sorted(places.items()):
        for path, own in users.items():
            others = [other for other in users if path in files and other != path
                      and (own & users[other] or None in own | users[other])]  # fmt: skip
            if others:
                yield f"{name}: {path}, {others[0]}"
                break


def test_the_names_of_a_file_stand_once_in_its_room():
    rooms = list(files_of_rooms())
    assert len(rooms) > 10
    assert sum(len(list(own_names(text))) for files, _ in rooms for text in files.values()) > 500
    assert sum(len(list(header_names(text))) for _, headers in rooms for text in headers.values()) > 50
    assert [clash for files, headers in rooms for clash in clashes(files, headers)] == []


def test_a_name_that_stands_twice_is_found():
    first = "namespace {\n\nconstexpr int most = 3;\nint count(const Json& one) {\n  return 1;\n}\n\n}  // namespace\n"
    same = first.replace("constexpr int most = 3;\n", "")
    other = same.replace("const Json& one", "int one")
    constant = "namespace {\n\nclass most {\n};\n}  // namespace\n"
    assert list(clashes({"a": first, "b": same})) == ["count: a, b"]
    assert list(clashes({"a": first, "b": other})) == []
    assert list(clashes({"a": first, "b": constant})) == ["most: a, b"]
    two = first.replace("most = 3", "least = std::min<int>(1, 2), most = 3")
    assert list(clashes({"a": two, "b": constant})) == ["most: a, b"]
    header = "inline constexpr int most = 3;\ninline int count(int one) {\n  return 1;\n}\n"
    assert list(clashes({"a": constant}, {"h": header})) == ["most: a, h"]
    assert list(clashes({"a": other}, {"h": header})) == ["count: a, h"]
    assert list(clashes({"a": same}, {"h": header})) == []
