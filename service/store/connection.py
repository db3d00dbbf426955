"""The connection: what the verbs ask the store through, be that one server, a cluster, or whatever
sentinels name."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Any, TypeVar

from redis.exceptions import NoScriptError, RedisError

from service.errors import StoreError, StoreUnavailable, Unconfirmed
from service.stages import STORING
from service.store.client import Client
from service.store.cluster import Cluster
from service.store.failures import ours_of
from service.store.keys import confirmed_at
from service.store.routes import OneServer, Route, Target
from service.store.scripts import VERBS, Call, load_script, packed
from service.store.sentinels import Sentinels
from service.store.server import Receive, Server
from service.store.touched import Touched
from service.store.waiting import Allowance
from service.store_address import Kind, Node, StoreAddress, read_address

T = TypeVar("T")

ONE_ROUND_TRIP = 0.5
"""The part of the deadline that one round trip may take."""
WAITED_THERE = 0.8
"""The part of a round trip's time that a server may wait for its replicas."""
HOPS = 2
"""So many redirections are followed at once; after each of the next there is a pause."""
PAUSE = 0.02
OF_NO_DOCUMENT = ("admit", "finish")
"""Verbs that write nothing which is to be confirmed."""


class Connection:
    """Runs scripts and commands where their keys are.

    One round trip takes no longer than half of `deadline` (seconds), and all that a thread asks
    after `begin_call` no longer than `deadline` together, redirections and the search for a primary
    included. What a server refused for certain (MOVED, ASK, TRYAGAIN, READONLY, a script that it
    has forgotten) is asked again; what was lost on the way only where it reads.

    With `replicated` it can `confirm` that a replica has what a call read and wrote.
    """

    def __init__(self, url: str, *, deadline: float, replicated: bool = False) -> None:
        self._allowance = Allowance(deadline, deadline * ONE_ROUND_TRIP)
        self._touched = Touched(wanted=replicated)
        self._route = self._route_to(read_address(url))
        self._scripts = {name: load_script(name) for name in VERBS}
        self.client = Client(
            lambda key, ask: self._at(key, lambda to: to.server.call(lambda: ask(to))),
            self._route.server_of,
        )

    @property
    def kind(self) -> Kind:
        """What it leads to."""
        return self._route.kind

    @property
    def is_replicated(self) -> bool:
        """Whether it confirms."""
        return self._touched.wanted

    def begin_call(self) -> None:
        """All that this thread asks from here on, until it begins another call, is one call."""
        self._allowance.begin()
        self._touched.forget()

    def go_on(self) -> None:
        """The call gets its time anew: for what is long by nature and makes progress."""
        self._allowance.renew()

    def wait_for(self, event: Event) -> bool:
        """Waits for something that another thread does, within the time of this one's call; whether
        it came."""
        began = time.monotonic()
        with STORING:
            came = event.wait(self._allowance.patience())
        self._allowance.spend(time.monotonic() - began)
        return came

    def run(self, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Runs a script where its keys are."""
        script = self._scripts[name]
        return self._at(
            keys[0],
            lambda to: to.server.run(script, keys, arguments, asking=to.asking),
            counts=name not in OF_NO_DOCUMENT,
        )

    def send(self, name: str, calls: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> Receive:
        """Sends several runs of one script, keys and arguments each, in one go to each server; what
        it gives receives the replies, in order. In the place of one that failed is a StoreError
        where it may have been done, and an exception of the driver where it was refused. Raises the
        first where none was answered."""
        receive = self._begin([(name, keys, arguments) for keys, arguments in calls])

        def replies() -> list[Any]:
            received = receive()
            if received and all(isinstance(reply, StoreError) for reply in received):
                raise received[0]
            return received

        return replies

    def run_all(self, calls: Sequence[Call]) -> list[Any]:
        """Runs one script for each call, all sent before any reply is read; the replies in the
        order of the calls. In the place of one that failed is a StoreError, or the driver's
        exception where it is a mistake of ours."""
        replies = self._begin(calls)()
        return [
            self._mended(call, reply) if isinstance(reply, Exception) else reply
            for call, reply in zip(calls, replies, strict=True)
        ]

    def call(self, command: Callable[..., Any], *arguments: Any) -> Any:
        """One command of `client`, which may be sent twice."""
        return command(*arguments)

    def every(self, ask: Callable[[Server], T]) -> list[T | StoreUnavailable]:
        """What each primary answers, or why it did not."""

        def answer(server: Server) -> T | StoreUnavailable:
            try:
                return server.call(lambda: ask(server))
            except StoreUnavailable as error:
                self._route.after(error, "", server)
                return error

        return [answer(server) for server in self._route.primaries()]

    def parts(self) -> int:
        """Over how many servers the keys are spread."""
        return self._route.parts()

    def infos(self) -> list[Mapping[str, Any]]:
        """The figures of each primary that answers (`INFO`); raises where none does."""
        told = self.every(lambda server: server.client.info())
        figures: list[Mapping[str, Any]] = [
            one for one in told if not isinstance(one, StoreUnavailable)
        ]
        for one in told:
            if not figures and isinstance(one, StoreUnavailable):
                raise one
        return figures

    def confirm(self, *, goes_on: bool = False) -> None:
        """Returns once a replica of each server has all that this thread's call has read and
        written there; raises Unconfirmed. Without `replicated` it asks nothing. `goes_on`: the call
        does, and is confirmed again.

        A connection's WAIT is for its own writes, and what a call only read was written by others.
        So it writes something small first: replicas get the writes of their primary in one order,
        and one that has the last has all before it. That holds for one history only. Where two
        processes have answered in one call (a failover came in between), what the first one told
        may not be in the second: that is not confirmed."""
        if not self._touched.wanted:
            return
        try:
            waiting = [
                (server, key, self._begin_confirmation(server, key))
                for server, key in self._touched.servers().items()
            ]
            for server, key, receive in waiting:
                replies = receive()
                if isinstance(replies[0], NoScriptError):
                    replies = self._begin_confirmation(server, key, is_known=False)()
                self._hold_to(server, replies)
        except StoreUnavailable as error:
            if error.kind == "noperm":
                raise
            raise Unconfirmed("it is stored, and no replica could be asked for it") from error
        # Only now: in a batch others may still be answered that rest on the same.
        self._touched.forget(processes=not goes_on)

    def close(self) -> None:
        """Closes all connections; they are opened again where they are asked for."""
        self._route.close()

    def _begin_confirmation(self, server: Server, key: str, *, is_known: bool = True) -> Receive:
        """Sends the write and the WAIT behind it; `is_known`: the server has the script."""
        milliseconds = int(self._allowance.next() * WAITED_THERE * 1000)
        if milliseconds <= 0:
            raise Unconfirmed("it is stored, but there was no time to ask a replica for it")
        script = self._scripts["confirm"]
        write = (script.by_digest if is_known else script.by_source)([confirmed_at(key)], [])
        return server.begin([write, packed("WAIT", 1, milliseconds)])

    def _hold_to(self, server: Server, replies: Sequence[Any]) -> None:
        """Raises Unconfirmed where these replies are no confirmation."""
        wrong = next((reply for reply in replies if isinstance(reply, Exception)), None)
        ours = None if wrong is None else ours_of(wrong)
        if isinstance(ours, StoreUnavailable) and ours.kind == "noperm":
            raise ours from wrong
        if wrong is not None or replies[1] < 1 or not self._touched.is_one_process(server):
            raise Unconfirmed("it is stored, but not yet on a replica") from wrong

    def _route_to(self, address: StoreAddress) -> Route:
        def make(node: Node | None) -> Server:
            return Server(address.url_of(node), self._allowance, self._touched)

        if address.kind is Kind.CLUSTER:
            return Cluster(address.nodes, self._allowance, make)
        if address.kind is Kind.SENTINEL:
            return Sentinels(address, self._allowance, make)
        return OneServer(make(address.nodes[0] if address.nodes else None))

    def _at(self, key: str, ask: Callable[[Target], T], *, counts: bool = True) -> T:
        """What the server of a key answers, found by way of those that refuse, in time."""
        target, hops, ends_at = Target(self._route.server_of(key)), 0, 0.0
        while True:
            try:
                given = ask(target)
            except StoreUnavailable as error:
                following = self._route.after(error, key, target.server)
                if following is None:
                    raise
                hops += 1
                ends_at = ends_at or time.monotonic() + self._allowance.patience()
                pause = max(following.pause, PAUSE if hops > HOPS else 0.0)
                if time.monotonic() + pause >= ends_at:
                    raise
                if pause:
                    time.sleep(pause)
                    self._allowance.spend(pause)
                target = following
            else:
                if counts:
                    self._touched.at(target.server, key)
                return given

    def _begin(self, calls: Sequence[Call]) -> Receive:
        """Sends scripts, in one go to each server."""
        replies: list[Any] = [None] * len(calls)
        groups: dict[Server, list[int]] = {}
        for place, (_, keys, _) in enumerate(calls):
            try:
                groups.setdefault(self._route.server_of(keys[0]), []).append(place)
            except StoreUnavailable as error:
                replies[place] = error
        receiving = [
            (server, places, self._begin_at(server, [calls[place] for place in places]))
            for server, places in groups.items()
        ]

        def receive() -> list[Any]:
            for server, places, receive_there in receiving:
                try:
                    there = receive_there()
                except StoreUnavailable as error:
                    self._route.after(error, calls[places[0]][1][0], server)
                    there = [error] * len(places)
                for place, reply in zip(places, there, strict=True):
                    replies[place] = reply
                    verb, keys, _ = calls[place]
                    # What refused has done nothing: whoever is asked then is what matters.
                    if verb not in OF_NO_DOCUMENT and not isinstance(reply, RedisError):
                        self._touched.at(server, keys[0])
            return replies

        return receive

    def _begin_at(self, server: Server, calls: Sequence[Call]) -> Receive:
        commands = [self._scripts[name].by_digest(keys, given) for name, keys, given in calls]
        try:
            return server.begin(commands)
        except StoreUnavailable as error:
            lost = error

        def fail() -> list[Any]:
            raise lost

        return fail

    def _mended(self, call: Call, error: Exception) -> Any:
        """What came of a call that failed, after it was sent again where it may be."""
        name, keys, arguments = call
        if isinstance(error, StoreError):
            may_be_sent = error.kind == "connection" and self._scripts[name].only_reads
        else:  # an answer: it was refused whole
            may_be_sent = isinstance(error, NoScriptError) or ours_of(error) is not None
        if not may_be_sent:
            return error
        try:
            return self.run(name, keys, arguments)
        except (StoreError, RedisError) as again:
            return again
