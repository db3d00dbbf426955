"""What processes of their own do where much is decided: they post, delete, rule and take back at
random, and one follows the log meanwhile.

They import no more than they need: nine of them start for a test.
"""

from collections import deque
from contextlib import closing
from random import Random
from threading import Barrier, Event
from time import monotonic
from typing import Any, NamedTuple

from tests.fire.clients import Client

IDS = 50
SECONDS = 60
RECENT = 5
LEAST_CALLS = 100
REVERTIBLE = ("dropped", "replaced", "deleted", "resolved")
KEEPS = ("incoming", "existing", "both")
METADATA: tuple[dict[str, Any], ...] = (
    {},
    {"updated_at": "2025-03-01T00:00:00Z"},
    {"updated_at": "2026-03-01T00:00:00Z"},
    {"authority": 5},
)
# One entry for each call that is drawn.
CALLS = ("check",) * 10 + ("show",) * 2 + ("delete",) * 2 + ("resolve",) * 5 + ("revert",) * 4
LEFT_OUT = ("items", "text", "pages", "cleaning", "changes", "existing", "incoming", "document")


class Call(NamedTuple):
    """One call: what was asked for, and what was answered as far as it is looked at later."""

    name: str
    asked: dict[str, Any]
    status: int
    answer: dict[str, Any]


class Deciding:
    """One process, and the calls that it made. What it rules and takes back, it does under a name
    that no other call has, so that the log tells which call it was."""

    def __init__(self, client: Client, seed: int, texts: list[str]) -> None:
        self.calls: list[Call] = []
        self._client = client
        self._drawn = Random(seed)
        self._seed = seed
        self._texts = texts
        self._after = ""
        self._decisions: dict[str, deque[str]] = {}
        self._conflicts: deque[str] = deque(maxlen=RECENT)

    def check(self) -> None:
        asked = {
            "id": self._id(),
            "text": self._drawn.choice(self._texts),
            "metadata": self._drawn.choice(METADATA),
        }
        self._call("check", asked, "POST", "/check", asked)

    def show(self) -> None:
        asked = {"id": self._id()}
        self._call("show", asked, "GET", f"/documents?id={asked['id']}")

    def delete(self) -> None:
        asked = {"id": self._id(), "erase": self._drawn.randrange(5) == 0}
        erase = "&erase=true" if asked["erase"] else ""
        self._call("delete", asked, "DELETE", f"/documents?id={asked['id']}{erase}")

    def resolve(self) -> None:
        """Rules on an open conflict, or now and then again on one that was open a while ago."""
        page = self._call("conflicts", {}, "GET", "/conflicts?status=open&limit=10")
        open_ones = [conflict["id"] for conflict in page.get("items", ())]
        again = self._conflicts and self._drawn.randrange(4) == 0
        if not (open_ones or again):
            return
        id = self._drawn.choice(self._conflicts if again else open_ones)
        self._conflicts.append(id)
        asked = {"conflict": id, "keep": self._drawn.choice(KEEPS), "by": self._name()}
        body = {"keep": asked["keep"], "by": asked["by"]}
        self._call("resolve", asked, "POST", f"/conflicts/{id}/resolve", body)

    def revert(self) -> None:
        """Takes one of the last decisions back, nearly always of a kind that can be."""
        query = f"limit=500{self._after}"
        page = self._call("decisions", {}, "GET", f"/decisions?{query}")
        if "after" in page:
            self._after = f"&after={page['after']}"
        for entry in page.get("items", ()):
            kind = entry["kind"] if entry["kind"] in REVERTIBLE else "other"
            self._decisions.setdefault(kind, deque(maxlen=RECENT)).append(entry["id"])
        kind = self._drawn.choice(REVERTIBLE if self._drawn.randrange(10) else ("other",))
        if kind not in self._decisions:
            return
        asked = {"decision": self._drawn.choice(self._decisions[kind]), "by": self._name()}
        path = f"/decisions/{asked['decision']}/revert"
        self._call("revert", asked, "POST", path, {"by": asked["by"]})

    def _call(
        self, name: str, asked: dict[str, Any], method: str, path: str, body: Any = None
    ) -> dict[str, Any]:
        status, answer = self._client.call(method, path, body)
        kept = {name: told for name, told in answer.items() if name not in LEFT_OUT}
        self.calls.append(Call(name, asked, status, kept))
        return dict(answer)

    def _id(self) -> str:
        return f"id{self._drawn.randrange(IDS)}"

    def _name(self) -> str:
        return f"{self._seed}-{len(self.calls)}"


def decide(port: int, seed: int, texts: list[str], seconds: float, barrier: Barrier) -> list[Call]:
    """Makes calls at random for a while; some in any case, however slow the machine is."""
    drawn = Random(-seed - 1)
    with closing(Client(port)) as client:
        deciding = Deciding(client, seed, texts)
        barrier.wait(SECONDS)
        end = monotonic() + seconds
        while monotonic() < end or len(deciding.calls) < LEAST_CALLS:
            getattr(deciding, drawn.choice(CALLS))()
    return deciding.calls


def follow(port: int, seed: int, stopped: Event) -> list[dict[str, Any]]:
    """All entries of the log as one gets them who asks for what is new, again and again; to the end
    of the log, once it is said that no more will come."""
    drawn, entries, after = Random(seed), list[dict[str, Any]](), ""
    with closing(Client(port)) as client:
        while True:
            is_last = stopped.is_set()
            limit = drawn.choice((1, 3, 50, 500))
            status, page = client.call("GET", f"/decisions?limit={limit}{after}")
            assert status == 200, page
            assert page["next"] in (None, page["after"])
            entries += page["items"]
            after = f"&after={page['after']}"
            if is_last and page["next"] is None:
                return entries
