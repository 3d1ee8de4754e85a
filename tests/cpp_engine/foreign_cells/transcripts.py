"""What the cells of a file printed, held against the lines that they are to match."""

import re

_TYPE = re.compile(r"^\((?:[^()]|\([^()]*\))*\)\s+(?=\S)")  # '(int) 3': cling names the type of a value


def pattern_of(check, values):
    """A regular expression of a CHECK line. `values`: what [[NAME]] has stood for so far."""
    text = check.pattern
    parts = []
    for part in re.split(r"(\{\{.*?\}\}|\[\[.*?\]\])", text):
        if part.startswith("{{"):
            parts.append(f"(?:{part[2:-2]})")
        elif part.startswith("[["):
            name, _, regex = part[2:-2].partition(":")
            parts.append(f"(?P<{name}>{regex})" if regex else re.escape(values.get(name, part)))
        else:
            parts.append(r"\s+".join(re.escape(word) for word in re.split(r"\s+", part)))
    return "".join(parts)


def is_about_type_or_place(check):
    """Whether the line is about how cling spells a value: its address, or nothing but its type."""
    spelling = (r"0x|@|\{\{.*\}\}$|\bFunction\b| -> | : \(|<recursion|\[\[|^\(std::source_location\)$"
                r"|^\(\w+::$|\)\s*\"|\(char\)")  # fmt: skip
    return bool(_TYPE.match(check.pattern + " .")) and bool(re.search(spelling, check.pattern))


def without_type(check):
    """The line without the type that cling and clang-repl write before a value."""
    return type(check)(check.kind, _TYPE.sub("", check.pattern), check.line)


def plain(text):
    """The text with numbers and braces as C++ writes them: { 1.50000f } is {1.5}."""
    text = re.sub(r"\{ (?!\})", "{", re.sub(r"(?<!\{) \}", "}", text))
    return re.sub(r"(?<![\w.])-?\d+\.\d+(e-?\d+)?[fL]?\b", lambda each: f"{float(each.group().rstrip('fL')):g}", text)


def find(check, text, begin, values):
    """-> the end of what the line matches in `text`, from `begin` on; None: nothing"""
    bare = without_type(check)
    for each in (check, bare, type(check)(check.kind, plain(bare.pattern), check.line)):
        try:
            match = re.compile(pattern_of(each, values)).search(text, begin)
        except re.error:
            return begin
        if match:
            values.update(match.groupdict())
            return match.end()
    return None


def unmatched(cells, outputs):
    """The checks that the outputs of the cells do not satisfy. -> [(ForeignCell, Check)]"""
    text = "\n".join(outputs)
    at, missing, refused, values = 0, [], [], {}
    for cell in cells:
        for check in cell.checks:
            if check.kind == "-EMPTY" or not check.pattern:
                continue
            if check.kind == "-NOT":
                refused.append((cell, check, at))
                continue
            end = find(check, text, 0 if check.kind == "-DAG" else at, values)
            if end is None:
                missing.append((cell, check))
                continue
            missing += [(other, each) for other, each, begin in refused
                        if (stop := find(each, text[:end], begin, values)) is not None and stop < end]
            refused = []
            at = max(at, end)
    missing += [(cell, check) for cell, check, begin in refused if find(check, text, begin, values) is not None]
    return missing
