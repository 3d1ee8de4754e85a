"""Much output."""

import re

MILLION = """%%px --max-output=all
for i in range(250_000):
    print(f"line {i} of {rank}")
"""


def lines_by_engine(text):
    """The lines of each engine, read back from the labelled text."""
    found, present = {}, []
    for line in text.split("\n"):
        label = re.match(r"\[(?:stdout:)?([\d,-]+)\] ?", line)
        if label:
            present = []
            for part in label.group(1).split(","):
                first, _, last = part.partition("-")
                present += range(int(first), int(last or first) + 1)
            line = line[label.end():]
            if not line:
                continue
        for engine in present:
            found.setdefault(engine, []).append(line)
    return found


def test_a_million_lines_arrive_all_and_in_order(notebook):
    notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)")
    found = lines_by_engine(notebook.text(MILLION))
    for engine in range(4):
        lines = [line for line in found[engine] if line]
        assert len(lines) == 250_000
        assert lines == [f"line {i} of {engine}" for i in range(250_000)]


def test_progress_bars_of_engines_leave_their_last_state(notebook):
    code = ("%%px -t 0:2\nimport sys, time\nfor i in range(5):\n"
            "    print(f'\\rstep {i}', end='', file=sys.stderr, flush=True)\n    time.sleep(0.15)\n"
            "print(file=sys.stderr)")
    result = notebook.ok(code)
    assert result.text("stderr") == "[stderr:0,1] step 4\n"
    assert any("[stderr:0] step" in text for text in result.bars)


def test_nested_bars_of_engines_are_lines_in_place(notebook):
    result = notebook.ok("%%px -t 0:2\nfrom tqdm import tqdm\nimport time\n"
                         "for i in tqdm(range(3), desc='outer', ascii=True):\n"
                         "    for j in tqdm(range(10), desc='inner', leave=False, ascii=True):\n"
                         "        time.sleep(0.05)\n")
    text = result.text("stderr")
    ends = re.findall(r"^\[stderr:(0|1|0,1)\] outer: 100%.*$", text, re.M)
    assert sorted(",".join(ends).split(",")) == ["0", "1"], text
    assert text.count("\n") == len(ends) and "\x1b" not in text, text
    frames = [bar for bar in result.bars if "inner" in bar]
    assert frames, result.bars
    for frame in frames:
        heads = re.findall(r"\[stderr:(\d)\] (outer|inner)", frame)
        assert heads == sorted(heads, key=lambda head: (head[0], head[1] == "inner")), frame
        assert len(heads) == len(set(heads)) <= 4, frame
    assert result.bars[-1] == ""
