"""A client of redis-py whose commands go where their key is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import redis
from redis.client import Pipeline

from service.errors import StoreError
from service.store.routes import Target
from service.store.server import Server

At = Callable[[str, Callable[[Target], Any]], Any]
"""Asks where a key is."""
Command = tuple[tuple[Any, ...], dict[str, Any]]


# What is silenced below: redis-py has no types for `execute_command`.


class Client(redis.Redis):
    """Takes the commands that have their key first, or none. `at` asks the server of a key, in time
    and with the driver's errors made ours; `place` tells which one that is now."""

    def __init__(self, at: At, place: Callable[[str], Server]) -> None:
        super().__init__()  # with a pool of its own, which never connects
        self._at = at
        self._place = place

    def execute_command(self, *arguments: Any, **options: Any) -> Any:
        """One command."""

        def ask(to: Target) -> Any:
            client = to.server.client
            if not to.asking:
                return client.execute_command(*arguments, **options)  # type: ignore[no-untyped-call]
            pipeline = client.pipeline(transaction=False)
            pipeline.execute_command("ASKING")  # type: ignore[no-untyped-call]
            pipeline.execute_command(*arguments, **options)  # type: ignore[no-untyped-call]
            return pipeline.execute()[-1]

        return self._at(_key_of(arguments), ask)

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Commands:
        """Several commands that are sent together to each server; never a transaction."""
        if transaction or shard_hint is not None:
            raise ValueError("keys at several servers know no transaction")
        return Commands(self, self._at, self._place)


class Commands(Pipeline):
    """Commands that are sent together to each server that has their keys."""

    def __init__(self, client: Client, at: At, place: Callable[[str], Server]) -> None:
        super().__init__(client.connection_pool, client.response_callbacks, False, None)
        self._client = client
        self._at = at
        self._place = place

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """The replies, in order; the first error is raised, or all stand in their places."""
        stack: list[Command] = list(self.command_stack)
        self.reset()
        replies: list[Any] = [None] * len(stack)
        for places in self._by_server(stack):
            together = self._together([stack[place] for place in places])
            for place, reply in zip(places, together, strict=True):
                replies[place] = reply
        for reply in replies:
            if raise_on_error and isinstance(reply, Exception):
                raise reply
        return replies

    def _by_server(self, stack: Sequence[Command]) -> list[list[int]]:
        groups: dict[Server | str, list[int]] = {}
        for place, (arguments, _) in enumerate(stack):
            key = _key_of(arguments)
            try:
                groups.setdefault(self._place(key), []).append(place)
            except StoreError:  # it is told in its place
                groups.setdefault(key, []).append(place)
        return list(groups.values())

    def _together(self, commands: Sequence[Command]) -> list[Any]:
        """The replies of one server; who was refused there asks again alone."""
        key = _key_of(commands[0][0])

        def ask(to: Target) -> Any:
            pipeline = to.server.client.pipeline(transaction=False)
            for arguments, options in commands:
                pipeline.execute_command(*arguments, **options)  # type: ignore[no-untyped-call]
            return pipeline.execute(raise_on_error=False)

        try:
            replies = self._at(key, ask)
        except StoreError as error:
            return [error] * len(commands)
        return [
            self._alone(command) if isinstance(reply, Exception) else reply
            for command, reply in zip(commands, replies, strict=True)
        ]

    def _alone(self, command: Command) -> Any:
        arguments, options = command
        try:
            return self._client.execute_command(*arguments, **options)
        except (StoreError, redis.RedisError) as error:
            return error


def _key_of(arguments: Sequence[Any]) -> str:
    return str(arguments[1]) if len(arguments) > 1 else ""
