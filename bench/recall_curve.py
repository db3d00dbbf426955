"""Draws docs/index-recall.svg: what the chosen bands find, over similarity.

    python -m bench.recall_curve [PATH]

For each threshold, the chance that two texts of a similarity share a bucket and so are compared,
by the bands that a collection with this threshold gets. Plain SVG, readable on light and dark.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from service.dedup.banding import Banding, banding_for, candidate_probability

PATH = Path(__file__).resolve().parent.parent / "docs" / "index-recall.svg"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
# Distinct for the colour-blind (after Okabe and Ito), and dark or light enough on either ground.
LIGHT = ("#a34700", "#0072b2", "#00795a", "#9c4f86", "#8a6a00", "#333333")
DARK = ("#ff9a4d", "#6bbcf5", "#34d3a6", "#eda3d3", "#e8c547", "#e6e6e6")
DASHES = ("", "9 4", "3 3", "12 3 3 3", "1.5 3.5", "16 4")

WIDTH, HEIGHT = 760, 450
LEFT, RIGHT, TOP, BOTTOM = 68, 218, 46, 62
STEPS = 200


def x_of(similarity: float) -> float:
    """Where a similarity stands."""
    return LEFT + similarity * (WIDTH - LEFT - RIGHT)


def y_of(chance: float) -> float:
    """Where a chance stands."""
    return HEIGHT - BOTTOM - chance * (HEIGHT - TOP - BOTTOM)


def curve(banding: Banding) -> str:
    """The points of a curve."""
    at = (step / STEPS for step in range(STEPS + 1))
    return " ".join(f"{x_of(s):.1f},{y_of(candidate_probability(s, banding)):.1f}" for s in at)


def style() -> str:
    """Colours for light and dark grounds."""
    light = "".join(f".c{n}{{stroke:{colour}}}" for n, colour in enumerate(LIGHT))
    dark = "".join(f".c{n}{{stroke:{colour}}}" for n, colour in enumerate(DARK))
    return (
        "<style>svg{font:13px system-ui,sans-serif}text{fill:#1f2328}.title{font-size:15px;"
        "font-weight:600}.ground{fill:#ffffff}.grid{stroke:#d0d7de}.axis{stroke:#57606a}"
        "polyline,.key{fill:none;stroke-width:2}.point{stroke-width:2;fill:#ffffff}"
        f"{light}@media (prefers-color-scheme:dark){{text{{fill:#e6edf3}}.ground{{fill:#0d1117}}"
        f".point{{fill:#0d1117}}.grid{{stroke:#30363d}}.axis{{stroke:#8b949e}}{dark}}}</style>"
    )


def axes() -> list[str]:
    """Grid, axes and what they say."""
    drawn = []
    for tenth in range(0, 11, 2):
        value = tenth / 10
        x, y = x_of(value), y_of(value)
        drawn += [
            f'<path class="grid" d="M{x:.1f} {y_of(0):.1f}V{y_of(1):.1f}"/>',
            f'<path class="grid" d="M{x_of(0):.1f} {y:.1f}H{x_of(1):.1f}"/>',
            f'<text x="{x:.1f}" y="{y_of(0) + 20:.1f}" text-anchor="middle">{value:g}</text>',
            f'<text x="{LEFT - 9}" y="{y + 4.5:.1f}" text-anchor="end">{tenth * 10} %</text>',
        ]
    middle = (y_of(0) + y_of(1)) / 2
    across = (x_of(0) + x_of(1)) / 2
    drawn += [
        f'<path class="axis" fill="none" d="M{x_of(0)} {y_of(1)}V{y_of(0)}H{x_of(1)}"/>',
        f'<text x="{across}" y="{HEIGHT - 18}" text-anchor="middle">Jaccard similarity</text>',
        f'<g transform="translate(18 {middle}) rotate(-90)">',
        '<text text-anchor="middle">chance to be compared</text></g>',
    ]
    return drawn


def groups() -> list[tuple[Banding, list[float]]]:
    """Each chosen banding with the thresholds that it serves."""
    serves: dict[Banding, list[float]] = {}
    for threshold in THRESHOLDS:
        serves.setdefault(banding_for(threshold), []).append(threshold)
    return list(serves.items())


def drawn_curves() -> list[str]:
    """The curves, a ring at each threshold, and the legend."""
    left, first = WIDTH - RIGHT + 20, TOP + 22
    parts = [f'<text x="{left}" y="{TOP + 4}">threshold: bands x rows</text>']
    for number, (banding, thresholds) in enumerate(groups()):
        dash = f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""
        parts.append(f'<polyline class="c{number}"{dash} points="{curve(banding)}"/>')
        y = first + number * 26
        named = ", ".join(f"{threshold:g}" for threshold in thresholds)
        said = f"{named}: {banding.bands} x {banding.rows}"
        parts.append(f'<path class="key c{number}"{dash} d="M{left} {y}h34"/>')
        parts.append(f'<text x="{left + 44}" y="{y + 4.5}">{said}</text>')
        for threshold in thresholds:
            y_ring = y_of(candidate_probability(threshold, banding))
            ring = f'cx="{x_of(threshold):.1f}" cy="{y_ring:.1f}"'
            parts.append(f'<circle class="point c{number}" {ring} r="4.5"/>')
    y = first + len(groups()) * 26
    parts.append(f'<circle class="point axis" cx="{left + 17}" cy="{y}" r="4.5"/>')
    parts.append(f'<text x="{left + 44}" y="{y + 4.5}">at the threshold</text>')
    return parts


def picture() -> str:
    """The whole picture."""
    at_thresholds = "; ".join(
        f"at {threshold:g} {candidate_probability(threshold, banding):.1%}"
        for banding, thresholds in groups()
        for threshold in thresholds
    )
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-labelledby="title told">'
    )
    told = f"The chance that a pair exactly at the threshold is compared: {at_thresholds}."
    parts = [
        opening,
        '<title id="title">What the bands find, by threshold</title>',
        f'<desc id="told">{told}</desc>',
        style(),
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="{LEFT}" y="26">Which pairs are found and compared</text>',
        *axes(),
        *drawn_curves(),
        "</svg>\n",
    ]
    return "\n".join(parts)


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, nargs="?", default=PATH)
    parser.parse_args().path.write_text(picture(), "utf-8")


if __name__ == "__main__":
    main()
