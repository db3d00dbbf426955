"""The calls that docs/tour.md shows, put to a service, and the page with what it answers.

`python -m tests.e2e.tour`, run in the directory of the project, starts a service, makes the calls
of the page in their order and writes its answers anew; the words between them stay. Where a call
is refused nothing is written.

A call is a `console` block that begins with `$ curl`, its answer the `json` block after it. So that
two runs give the same page, answers are shown by fixed rules:

- An id that the service makes is shown by what it is and its place among those of its kind:
  `family-1`, `conflict-1`, `dropped-2` (the second decision of that kind), `after-1`. Such a name
  in the address of a call stands for the id that this service gave.
- A time of the service's clock is shown as an ellipsis, a hash by its first eight digits and one.
- The first check, conflict, decision and document are shown in full. Of later ones the fields in
  LEFT_OUT are not shown, nor any that is null or empty; an ellipsis with their number stands for
  them.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.e2e.running import Service, services

PAGE = Path(__file__).parents[2] / "docs" / "tour.md"
COMMAND = "python -m tests.e2e.tour"

Kind = frozenset[str]

# A thing that the service tells of is known by the fields that only its kind has.
CHECK: Kind = frozenset({"verdict", "cleaning"})
CONFLICT: Kind = frozenset({"opened_at"})
DECISION: Kind = frozenset({"kind", "at"})
DOCUMENT: Kind = frozenset({"registered_at"})

LEFT_OUT: Mapping[Kind, frozenset[str]] = {
    CHECK: frozenset(
        {"collection", "leak", "candidates", "text", "pages", "cleaning", "hashes"}
        | {"replayed", "supersedes"}
    ),
    CONFLICT: frozenset({"collection", "score", "changes", "existing", "incoming", "opened_at"}),
    DECISION: frozenset({"collection", "at", "score", "changes", "text", "metadata"}),
    DOCUMENT: frozenset(
        {"collection", "orphaned", "hashes", "metadata", "text", "pending", "twins_cut"}
        | {"registered_at", "updated_at"}
    ),
}

ELLIPSIS = "…"
WIDTH = 110
HASH_SHOWN = len("sha256:") + 8
LEAST_LENGTH_IN_PROSE = 5  # a shorter id might be a word or a figure of the sentence

_CALL = re.compile(r"(```console\n\$ (curl [^`]*)```\n\n```json\n)[^`]*(```\n)")
_NAME = re.compile(r"\b(?:conflict|after|dropped|replaced|held|updated|resolved|deleted)-[0-9]+\b")


@dataclass(frozen=True)
class Call:
    """One call of the page, as it is written there."""

    method: str
    path: str
    body: Any = None


@dataclass(frozen=True)
class Told:
    """One call, and what the service answered to it."""

    call: Call
    answer: Any


class Refused(Exception):
    """A call of the page that this service does not answer as the page promises."""


def calls(page: str) -> list[Call]:
    return [_read(found[2]) for found in _CALL.finditer(page)]


def follow(page: str, service: Service) -> list[Told]:
    """Makes the calls of the page in their order, with the ids that the service gives."""
    told: list[Told] = []
    for call in calls(page):
        path = _with_ids(call.path, Names(one.answer for one in told))
        status, answer = service.call(call.method, path, call.body)
        if status != 200:
            raise Refused(f"{call.method} {call.path} got {status}: {answer}")
        told.append(Told(call, answer))
    return told


def with_answers(page: str, told: list[Told]) -> str:
    """The page with these answers to its calls."""
    names = Names(one.answer for one in told)
    met: set[Kind] = set()
    answers = iter([pretty(_shown(one.answer, names, met)) for one in told])
    return _CALL.sub(lambda found: f"{found[1]}{next(answers)}\n{found[3]}", page)


def things(answer: Any, kind: Kind) -> Iterator[dict[str, Any]]:
    """Every conflict, decision, … in an answer, in its order."""
    for one in _objects(answer):
        if kind <= one.keys():
            yield one


class Names:
    """What ids are shown as. They are counted in the order in which the answers name them."""

    def __init__(self, answers: Iterable[Any]) -> None:
        everything = list(answers)
        kinds = {
            decision["id"]: str(decision["kind"])
            for answer in everything
            for decision in things(answer, DECISION)
        }
        counts: dict[str, int] = {}
        self._names: dict[tuple[str, str], str] = {}
        for answer in everything:
            for what, id in _ids(answer):
                if (what, id) not in self._names:
                    word = kinds.get(id, what) if what == "decision" else what
                    counts[word] = counts.get(word, 0) + 1
                    self._names[what, id] = f"{word}-{counts[word]}"

    def name(self, what: str, id: str) -> str:
        return self._names.get((what, id), id)

    def id(self, name: str) -> str:
        found = [id for (_, id), given in self._names.items() if given == name]
        if not found:
            raise Refused(f"no answer so far has {name}; they have {sorted(self._names.values())}")
        return found[0]

    def in_prose(self, sentence: str) -> str:
        """A sentence of the service's with each id in it by its name."""
        for (_, id), name in self._names.items():
            if len(id) >= LEAST_LENGTH_IN_PROSE:
                sentence = re.sub(rf"(?<![\w-]){re.escape(id)}(?![\w-])", name, sentence)
        return sentence


def pretty(value: Any, indent: int = 0, taken: int = 0) -> str:
    """JSON of which whatever fits stands on one line, the outermost object apart."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or (indent and taken + len(line) <= WIDTH):
        return line
    inner = indent + 2
    if isinstance(value, dict):
        labelled = [(f"{json.dumps(key, ensure_ascii=False)}: ", one) for key, one in value.items()]
    else:
        labelled = [("", one) for one in value]
    parts = [
        f"{' ' * inner}{label}{pretty(one, inner, inner + len(label))}" for label, one in labelled
    ]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([first, ",\n".join(parts), " " * indent + last])


def _read(command: str) -> Call:
    """`curl -s ADDRESS -H HEADER -d BODY`, the last two where something is posted."""
    words = shlex.split(command)
    host, slash, path = words[2].partition("/")
    assert (words[:2], host, slash) == (["curl", "-s"], "127.0.0.1:8000", "/"), command
    if len(words) == 3:
        return Call("GET", f"/{path}")
    assert words[3:6] == ["-H", "Content-Type: application/json", "-d"], command
    return Call("POST", f"/{path}", json.loads(words[6]))


def _with_ids(path: str, names: Names) -> str:
    return _NAME.sub(lambda found: quote(names.id(found[0]), safe=""), path)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in _inner(value).values():
        yield from _objects(one)


def _inner(value: Any) -> dict[Any, Any]:
    """What a value is made of; metadata is the caller's own and not looked into."""
    if isinstance(value, list):
        return dict(enumerate(value))
    if isinstance(value, dict):
        return {key: one for key, one in value.items() if key != "metadata"}
    return {}


def _ids(value: Any) -> Iterator[tuple[str, str]]:
    """Every id that the service made: what it is of, and the id."""
    for one in _objects(value):
        for key, held in one.items():
            what = _what(one, key)
            if what is not None and isinstance(held, str):
                yield what, held


def _what(holder: Mapping[str, Any], key: str) -> str | None:
    """What the string under this field is an id of, if it is one that the service made."""
    if key == "id":
        if holder.keys() >= DECISION:
            return "decision"
        is_conflict = holder.keys() >= CONFLICT or holder.keys() == {"id", "status"}
        return "conflict" if is_conflict else None
    if key == "after":  # a change has one too: the words of the posted text
        return key if "items" in holder else None
    return key if key in ("family", "conflict", "decision") else None


def _shown(value: Any, names: Names, met: set[Kind]) -> Any:
    if isinstance(value, list):
        return [_shown(one, names, met) for one in value]
    if not isinstance(value, dict):
        return value
    left_out = _left_out(value, met)
    shown = {key: _shown_field(value, key, names, met) for key in value if key not in left_out}
    return shown | {ELLIPSIS: f"{len(left_out)} more fields"} if left_out else shown


def _left_out(holder: Mapping[str, Any], met: set[Kind]) -> set[str]:
    """The fields that are not shown: of the first of a kind none, and that has now been met."""
    kind = next((kind for kind in LEFT_OUT if kind <= holder.keys()), None)
    if kind is None or kind not in met:
        met |= {kind} if kind is not None else set()
        return set()
    return {key for key, held in holder.items() if key in LEFT_OUT[kind] or held in (None, [], {})}


def _shown_field(holder: Mapping[str, Any], key: str, names: Names, met: set[Kind]) -> Any:
    value = holder[key]
    if key == "metadata":
        return value
    if not isinstance(value, str):
        return _shown(value, names, met)
    what = _what(holder, key)
    if what is not None:
        return names.name(what, value)
    if key == "at" or key.endswith("_at"):
        return ELLIPSIS
    if value.startswith("sha256:"):
        return value[:HASH_SHOWN] + ELLIPSIS
    return names.in_prose(value) if key in ("reason", "rule") else value


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    with (
        tempfile.TemporaryDirectory(prefix="tour-") as directory,
        services(Path(directory)) as start,
    ):
        try:
            told = follow(page, start(TWINSIFT_REDIS_URL="").ready())
        except Refused as refused:
            sys.exit(f"{PAGE.name} is as it was: {refused}")
    PAGE.write_text(with_answers(page, told), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name}: {len(told)} answers\n")


if __name__ == "__main__":
    main()
