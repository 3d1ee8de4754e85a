"""Makes the tables of documents from the records of bench/results."""

import re

from figures import Row, missed_aims, ratio
from provenance import check

BEGIN = "<!-- table {name}: made by bench/report, do not edit -->"
END = "<!-- end of table {name} -->"
ANY_BEGIN = re.compile(r"<!-- table ([\w.]+): made by bench/report, do not edit -->")



class BadMarkers(Exception):
    """The document does not hold each table once, between its two markers."""


def number(value):
    """Three significant digits."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:.3g}"


def spread(row):
    low, high = map(number, row.spread)
    return f" ({low} - {high})" if row.n_runs > 1 and low != high else ""


def cell(row, rows):
    """A value, its spread, and its ratio to what it is compared with."""
    text = number(row.value) + spread(row)
    compared = ratio(row, rows)
    if compared is not None:
        text += f"; {compared:.2f} x {row.ratio_to}"
    return text


def aim_text(aim):
    return f"{aim.relation} {aim.limit:g}" + (" x" if aim.of == "ratio" else "")


def aims_cell(line, rows):
    """The aims of all rows of a table line and whether they are met; a missed one in bold."""
    with_aims = [row for row in line if row.aims]
    texts = []
    for row in with_aims:
        missed = missed_aims(row, rows)
        for aim in row.aims:
            text = aim_text(aim)
            if len(with_aims) > 1:
                text = f"{row.peer}: {text}"
            if aim.of == "ratio" and ratio(row, rows) is None:
                text += " cannot be judged"
            else:
                text = f"**{text} missed**" if aim in missed else f"{text} met"
            texts.append(text)
    return "; ".join(texts)


def table(rows):
    """The rows as one table: a line for each thing measured, a column for each peer."""
    peers = list(dict.fromkeys(row.peer for row in rows))
    has_aims = any(row.aims for row in rows)
    header = ["", *peers, *(["aim"] if has_aims else [])]
    lines = [header, ["---"] * len(header)]
    for what in dict.fromkeys(row.what for row in rows):
        line = {row.peer: row for row in rows if row.what == what}
        unit = next(iter(line.values())).unit
        cells = [cell(line[peer], rows) if peer in line else "" for peer in peers]
        aims = [aims_cell(line.values(), rows)] if has_aims else []
        lines.append([f"{what}, {unit}" if unit else what, *cells, *aims])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def where_text(record):
    """One sentence: date, commit, machine."""
    machine = record["machine"]
    changed = " with uncommitted changes" if record["has_changes"] else ""
    return (
        f"{record['date']}, commit {record['commit'][:12]}{changed}, {machine['cpus']} CPUs "
        f"({machine['cpu']}), Linux {machine['kernel']}."
    )


def provenance_text(record):
    """One paragraph: commit, date, machine, load, options, versions."""
    known = {name: version for name, version in record["versions"].items() if version}
    text = (
        f"{where_text(record)[:-1]}; load average {record['load_before']:g} "
        f"before and {record['load_after']:g} after, {record['busy_before']:g} CPUs in use just "
        f"before; {record['seconds']:.0f} s. "
    )
    text += "".join(f"`{command}` " for command in record["command"]).strip() + ". "
    if known:
        text += ", ".join(f"{name} {version}" for name, version in known.items()) + ". "
    counts = sorted({row["n_runs"] for row in record["rows"]})
    if counts:
        some = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
        spread = "the brackets show the smallest and the largest value"
        of_several = f"Values are medians of {some} runs; {spread}."
        text += of_several if counts != [1] else "Values are from one run."
    return text.strip()


def notes(record):
    lines = []
    for program in record.get("stale", ()):
        lines.append(f"{program} was older than the newest source file of this commit.")
    for name, why in record.get("missing", {}).items():
        lines.append(f"Incomplete: {name}: {why}.")
    return lines


def render(record, source):
    """The table of one bench. Raises NoProvenance where the record lacks it."""
    check(record, source)
    where = provenance_text(record)
    if record.get("failed"):
        return f"**This bench failed: {record['failed']}.** {where}"
    rows = [Row.from_json(row) for row in record["rows"]]
    parts = [table(rows), *notes(record), where]
    return "\n\n".join(parts)


def missed_rows(record):
    """[(what, peer, value with unit, the aim)] of each aim that a bench misses."""
    rows = [Row.from_json(row) for row in record["rows"]]
    found = []
    for row in rows:
        for aim in missed_aims(row, rows):
            unit = f" {row.unit}" if row.unit else ""
            if aim.of == "ratio":
                value = f"{ratio(row, rows):.2f} x {row.ratio_to}"
            else:
                value = number(row.value) + unit
            found.append((row.what, row.peer, value, aim_text(aim)))
    return found


def render_missed(records):
    """One table of all aims that are missed. records: those that render() accepts."""
    if not records:
        return "Nothing is measured yet: run `bench/report`."
    lines = [
        f"| {record['bench']} | " + " | ".join(each) + " |"
        for record in records
        for each in missed_rows(record)
    ]
    if not lines:
        return "The measured benches reach all of their aims."
    return "\n".join(["| bench | figure | of | measured | aim |", "|---|---|---|---|---|", *lines])


def not_measured(name):
    return f"Not measured yet: run `bench/report --only {name}`."


def replace_in_documents(documents, tables):
    """The documents with `tables` between their markers. Each table stands in one of them, once; else BadMarkers."""
    found = [set(ANY_BEGIN.findall(document)) for document in documents]
    for name in tables:
        places = sum(name in names for names in found)
        if places != 1:
            raise BadMarkers(f"one document must have the line {BEGIN.format(name=name)!r}; {places} have it")
    return [
        replace_tables(document, {name: text for name, text in tables.items() if name in names})
        for document, names in zip(documents, found)
    ]


def replace_tables(document, tables):
    """The document with `tables` (name -> text) between their markers; all else is as it was.

    Raises BadMarkers unless the document has exactly these tables, each once.
    """
    found = ANY_BEGIN.findall(document)
    for name in set(found) | set(tables):
        begins = document.count(BEGIN.format(name=name))
        ends = document.count(END.format(name=name))
        if name not in tables:
            raise BadMarkers(f"there is no bench {name}, whose table the document has")
        if (begins, ends) != (1, 1):
            raise BadMarkers(
                f"the document must have one line {BEGIN.format(name=name)!r} and one line "
                f"{END.format(name=name)!r} after it; it has {begins} and {ends}"
            )
    for name, text in tables.items():
        before, _, rest = document.partition(BEGIN.format(name=name))
        between, end, after = rest.partition(END.format(name=name))
        if not end or ANY_BEGIN.search(between):
            raise BadMarkers(f"the end of table {name} does not follow its beginning")
        document = f"{before}{BEGIN.format(name=name)}\n\n{text}\n\n{end}{after}"
    return document
