"""The sources of a folder can be compiled as one, as preset demo does: what a file has for itself, in an unnamed
namespace, has a name that stands once in its folder. Functions may differ by their parameters."""

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
TYPE = re.compile(r"(?:template <.*> )?(?:(?:struct|class|enum class|enum) (\w+)|using (\w+) =)")
OTHER = re.compile(r"[^(={;]*?(\w+)(?:\[\w*\])? ?([(={;].*)")


def folders_of_rooms():
    """Each folder that CMakeLists.txt compiles as part of a room."""
    text = (ROOT / "CMakeLists.txt").read_text()
    for room, folders in re.findall(r"^px_room\((\w+)(?: FOLDERS ([\w ]+?))? LINKS", text, re.M):
        yield room
        yield from (f"{room}/{folder}" for folder in folders.split())


def own_names(text):
    """(name, the types of its parameters or None) of what stands in unnamed namespaces of a file."""
    for part in re.findall(r"^namespace \{$(.*?)^\}  // namespace$", text, re.M | re.S):
        for statement in re.findall(r"^(?![ }/#\n]).*?(?:[;{]|:$)", part, re.M | re.S):
            statement = re.sub(r"\[\[\w+\]\] ", "", " ".join(statement.split()))
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


def clashes(files):
    """[a sentence for each name that two of the files have]. files  {path: text}"""
    places = collections.defaultdict(dict)
    for path, text in files.items():
        for name, parameters in own_names(text):
            places[name].setdefault(path, set()).add(parameters)
    for name, users in sorted(places.items()):
        for path, own in users.items():
            others = [other for other in users if other != path
                      and (own & users[other] or None in own | users[other])]  # fmt: skip
            if others:
                yield f"{name}: {path}, {others[0]}"
                break


def test_the_names_of_a_file_stand_once_in_its_folder():
    folders = list(folders_of_rooms())
    assert len(folders) > 25
    names = 0
    wrong = []
    for folder in folders:
        files = {str(path.relative_to(ROOT)): path.read_text() for path in sorted((ROOT / folder).glob("*.cpp"))
                 if path.name != "main.cpp"}  # fmt: skip
        names += sum(len(list(own_names(text))) for text in files.values())
        wrong += clashes(files)
    assert names > 500  # the files were read
    assert wrong == []


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
