"""`twinsift calibrate`: what thresholds do to pairs that a person has labelled.

No service is asked.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from service.commands.failing import CommandError, UsageError
from service.commands.output import is_for_people, safe, write_json, write_table
from service.commands.parts import Commands, command

if TYPE_CHECKING:
    from service.dedup.calibration import ScoredPair, Sweep
    from service.dedup.labelled import LabelledPairs

STDIN = "-"
SHINGLES = ("word:1", "word:2", "word:3", "word:5", "char:3", "char:5")
THRESHOLDS = tuple(number / 20 for number in range(4, 21))
LONGEST = 240
COLUMNS = ("threshold", "caught", "wrongly joined", "missed", "precision", "recall", "95 %", "cost")


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = command(
        commands,
        "calibrate",
        run,
        summary="tell what thresholds do to labelled pairs",
        about="Reads labelled pairs, a line of JSON each (a, b, duplicate: true or false) or CSV\n"
        "with such a header, and tells what every threshold would have done to them.\n"
        "`twinsift sample` makes lines to be labelled; one whose duplicate is null is left out.\n"
        "Tables at a terminal, elsewhere one line of JSON as POST /calibrate answers.",
    )
    parser.add_argument("pairs", help="the file; -: stdin")
    parser.add_argument(
        "--shingles",
        action="append",
        metavar="UNIT:SIZE",
        help=f"may be given more than once; left out: {', '.join(SHINGLES)}",
    )
    parser.add_argument("--normalization", choices=["words", "squish"], default="words")
    parser.add_argument(
        "--threshold",
        action="append",
        type=float,
        metavar="SIMILARITY",
        help="above 0 and up to 1; may be given more than once; left out: 0.2, 0.25 … 1",
    )
    parser.add_argument("--cost-missed", type=float, default=1.0, help="of a duplicate not joined")
    parser.add_argument(
        "--cost-wrongly-joined", type=float, default=1.0, help="of a distinct pair joined"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it: .png, .svg or .pdf")


def run(chosen: argparse.Namespace, _environ: Mapping[str, str]) -> int:
    """Sweeps the thresholds."""
    from service.calibrating import calibrate  # noqa: PLC0415 - see `commands`
    from service.dedup.calibration import Costs  # noqa: PLC0415 - as above
    from service.dedup.shingles import Shingles  # noqa: PLC0415 - as above
    from service.errors import EmptyText  # noqa: PLC0415 - as above

    shingles = [Shingles(*_run(written)) for written in chosen.shingles or SHINGLES]
    thresholds = chosen.threshold or THRESHOLDS
    if not all(0 < threshold <= 1 for threshold in thresholds):
        raise UsageError("--threshold: must be above 0 and at most 1")
    if min(chosen.cost_missed, chosen.cost_wrongly_joined) < 0:
        raise UsageError("costs must not be negative")
    found = _pairs(chosen.pairs)
    costs = Costs(chosen.cost_missed, chosen.cost_wrongly_joined)
    try:
        sweeps = calibrate(found.pairs, chosen.normalization, shingles, sorted(thresholds), costs)
    except EmptyText as error:
        _, _, place, side = error.faults[0].pointer.split("/")
        line = found.lines[int(place)]
        raise CommandError(f"{chosen.pairs}: line {line}: {error} {side}") from None
    if chosen.plot is not None:
        _plot(sweeps, chosen.plot)
    if not is_for_people():
        from service.web.calibration_answers import calibration  # noqa: PLC0415 - see `commands`

        write_json(calibration(sweeps, chosen.normalization))
        return 0
    for sweep in sweeps:
        _show(sweep)
    return 0


def _run(written: str) -> tuple[str, int]:
    """`word:3` taken apart."""
    found = re.fullmatch(r"(word|char):([1-9][0-9]?|100)", written)
    if found is None:
        raise UsageError("--shingles: must be word:SIZE or char:SIZE, SIZE from 1 to 100")
    return found[1], int(found[2])


def _pairs(file: str) -> LabelledPairs:
    """The labelled pairs of a file; says how many are not labelled yet."""
    from service.dedup.labelled import NotPairs, read_pairs  # noqa: PLC0415 - see `commands`

    try:
        found = read_pairs(_written(file))
    except NotPairs as error:
        raise CommandError(f"{file}: {error}") from None
    if found.unlabelled:
        sys.stderr.write(f"twinsift: {found.unlabelled} pairs are not labelled and left out\n")
    return found


def _written(file: str) -> str:
    try:
        written = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return written.decode("utf-8")
    except OSError as exc:
        raise CommandError(f"{file}: {exc.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{file}: is not UTF-8") from None


def _plot(sweeps: Sequence[Sweep], path: Path) -> None:
    from service.step_chart import FORMATS, NoCharts, draw  # noqa: PLC0415 - see `commands`

    if path.suffix not in FORMATS:
        raise UsageError(f"--plot: the name must end in {', '.join(FORMATS)}")
    try:
        draw(sweeps, path)
    except NoCharts as error:
        raise CommandError(f"--plot: {error}") from None
    except OSError as exc:
        raise CommandError(f"{path}: {exc.strerror}") from None


def _show(sweep: Sweep) -> None:
    unit = "words" if sweep.shingles.unit == "word" else "characters"
    sys.stdout.write(f"Shingles of {sweep.shingles.size} {unit}, {len(sweep.scored)} pairs\n\n")
    write_table(COLUMNS, [_row(sweep, place) for place in range(len(sweep.steps))])
    sys.stdout.write(f"\n{sweep.statement}\n")
    if sweep.witness is not None:
        _show_pair(sweep.witness.distinct)
        _show_pair(sweep.witness.duplicate)
    above, below = sweep.nearest()
    sys.stdout.write(f"\nNearest to {sweep.best.threshold:.2f}, where the cost is least:\n")
    for one in (*reversed(above), *below):
        _show_pair(one)
    sys.stdout.write("\n")


def _row(sweep: Sweep, place: int) -> list[Any]:
    step = sweep.steps[place]
    low, high = step.recall_interval or (None, None)
    best = " <" if step is sweep.best else ""
    return [
        f"{step.threshold:.2f}",
        step.caught,
        step.wrongly_joined,
        step.missed,
        "" if step.precision is None else f"{step.precision:.3f}",
        "" if step.recall is None else f"{step.recall:.3f}",
        "" if low is None else f"{low:.3f} to {high:.3f}",
        f"{step.cost:g}{best}",
    ]


def _show_pair(one: ScoredPair) -> None:
    label = "duplicate" if one.pair.duplicate else "distinct"
    sys.stdout.write(f"  {one.score:.4f} {label}\n")
    for name, text in (("a", one.pair.a), ("b", one.pair.b)):
        sys.stdout.write(f"    {name} {_line(text)}\n")


def _line(text: str) -> str:
    """A text on one line, its middle left out where it is long."""
    line = safe(" ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 30]} … {line[-27:]}"
