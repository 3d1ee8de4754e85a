"""Draws rates by size as an SVG: both axes logarithmic, a line for each series, its name at its end."""

import math
from xml.sax.saxutils import escape

BENCH = "array_sizes_bench"  # whose rates these are
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
WIDTH, HEIGHT = 900, 520
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 50, 60
COLOURS = ["#1b6ca8", "#d1495b", "#2e7d32", "#edae49", "#6a4c93", "#00798c", "#8d5524", "#555555"]
LABEL_HEIGHT = 16


def size_of(what):
    """The bytes that "64 MiB" stands for; None for other words."""
    number, _, unit = what.partition(" ")
    return int(number) * UNITS[unit] if number.isdigit() and unit in UNITS else None


def rates_by_size(rows):
    """The plot of a record's rows, those whose `what` is a size."""
    ticks, series = {}, {}
    for row in rows:
        if size := size_of(row["what"]):
            ticks[size] = row["what"]
            series.setdefault(row["peer"], {})[size] = row["value"]
    title = "Arrays between a client and four engines of one host"
    return svg(title, "size of the array", "GB/s", dict(sorted(ticks.items())), series)


def svg(title, x_name, y_name, ticks, series):
    """ticks: {x: its label}; series: {name: {x: y}}, all numbers above 0."""
    xs = [math.log10(x) for x in ticks]
    ys = [math.log10(y) for line in series.values() for y in line.values()]
    low, high = math.floor(min(ys)), math.ceil(max(ys))

    def place(x, y):
        across = (math.log10(x) - xs[0]) / (xs[-1] - xs[0])
        up = (math.log10(y) - low) / (high - low)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = [text(WIDTH / 2, TOP / 2, title, "middle", 16)]
    for x, label in ticks.items():
        at, bottom = place(x, 10**low)
        parts += [line([(at, bottom), (at, TOP)], "#dddddd", 1), text(at, bottom + 20, label)]
    for power in range(low, high + 1):
        left, at = place(10 ** xs[0], 10**power)
        parts.append(line([(left, at), (WIDTH - RIGHT, at)], "#dddddd", 1))
        parts.append(text(left - 8, at + 4, f"{10.0**power:g}", "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_name))
    parts.append(text(LEFT, TOP - 10, y_name))
    ends = []
    for number, (name, values) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = [place(x, y) for x, y in sorted(values.items())]
        parts.append(line(points, colour, 2))
        ends.append((points[-1][1], name, colour))
    for at, name, colour in spread(ends):
        parts.append(text(WIDTH - RIGHT + 10, at + 4, name, "start", 13, colour))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def spread(ends):
    """The labels at the ends of the lines, moved down where they would cover each other."""
    placed, free = [], TOP
    for at, name, colour in sorted(ends):
        placed.append((max(at, free), name, colour))
        free = placed[-1][0] + LABEL_HEIGHT
    return placed


def text(x, y, words, anchor="middle", size=12, colour="#333333"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{colour}">{escape(words)}</text>'
    )


def line(points, colour, width):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
