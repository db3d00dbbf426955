"""What cleaning takes from real pages: running lines of RFCs against gold, and PDF extractions.

    python bench/text_pages.py --rfc rfc-pages.jsonl --pdf pdf-pages.jsonl

Both files hold one document a line, with `id` and `pages`. The RFC file names the header and
footer of each page under `gold`; wanted are at least 99 % of those removed and no line of the
body. The PDF file has no gold: its removed lines are printed, the most frequent first, to be
read.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from service.text.cleaning import CleaningRules, clean  # the path comes first

RULES = CleaningRules()
CHARACTERS_ONLY = CleaningRules(repeated_lines=None, page_numbers=False)


def main() -> None:
    """Read the paths, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rfc", type=Path, help="pages with gold headers and footers")
    parser.add_argument("--pdf", type=Path, help="pages of PDF extractions")
    parser.add_argument("--lines", type=int, default=40, help="removed lines shown per document")
    arguments = parser.parse_args()
    if arguments.rfc:
        measure_gold(arguments.rfc)
    if arguments.pdf:
        show_removed(arguments.pdf, arguments.lines)


def documents(path: Path) -> Iterator[dict[str, Any]]:
    """The documents of a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def squeezed(line: str) -> str:
    """A line without the blanks that cleaning takes away."""
    return re.sub(r"\s+", " ", line).strip()


def lines_removed(document: dict[str, Any]) -> list[Counter[str]]:
    """For each page, the lines that the rules for headers, footers and page numbers took."""
    tidied = clean(document["pages"], CHARACTERS_ONLY).pages
    cleaned = clean(document["pages"], RULES).pages
    return [
        Counter(before.split("\n")) - Counter(after.split("\n"))
        for before, after in zip(tidied, cleaned, strict=True)
    ]


def measure_gold(path: Path) -> None:
    """Print the share of gold lines removed, and each other line that was removed.

    Among the others, a line lost on most pages of its document is a running line that gold does
    not name (a second header line); anything else is body lost.
    """
    gold_lines = missed = unnamed = lost = 0
    for document in documents(path):
        others: Counter[str] = Counter()
        for at, (removed, gold) in enumerate(
            zip(lines_removed(document), document["gold"], strict=True), start=1
        ):
            running = Counter(squeezed(line) for line in (gold["header"], gold["footer"]) if line)
            gold_lines += running.total()
            others.update(removed - running)
            for line in (running - removed).elements():
                missed += 1
                print(f"  still there: {document['id']} page {at}: {line}")
        for line, count in others.items():
            if count * 2 > len(document["pages"]):
                unnamed += count
                print(f"  running, not in gold: {document['id']} on {count} pages: {line}")
            else:
                lost += count
                print(f"  body lost: {document['id']} on {count} pages: {line}")
    share = (gold_lines - missed) / gold_lines if gold_lines else 1.0
    print(
        f"RFC: {gold_lines} header and footer lines, {share:.2%} removed; "
        f"running lines that gold does not name: {unnamed}; body lines lost: {lost}"
    )


def show_removed(path: Path, most: int) -> None:
    """Print what was removed from each document, and the lines that edges of pages still share."""
    for document in documents(path):
        cleaned = clean(document["pages"], RULES)
        print(f"\nPDF: {document['id']} ({len(cleaned.pages)} pages)")
        for removal in cleaned.report.removed:
            print(f"  {removal.rule}: {removal.count} ({removal.chars} characters)")
        gone: Counter[str] = Counter()
        for removed in lines_removed(document):
            gone.update(removed)
        for line, count in gone.most_common(most):
            print(f"    {count:4d} x removed: {line[:100]}")
        filled = [page.split("\n") for page in cleaned.pages if page]
        edges = Counter(line for lines in filled for line in {lines[0], lines[-1]})
        for line, count in edges.most_common(5):
            if count > 1:
                print(f"    {count:4d} x still first or last: {line[:100]}")


if __name__ == "__main__":
    main()
