"""TLS before servers that speak none, as the embedded one does not."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PIECE = 64 * 1024
HELLO = b"\x16"
"""What a connection begins with that speaks TLS."""


class Terminator:
    """Listens on ports of its own and passes on what comes, deciphered, to the servers behind."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def before(self, port: int, context: ssl.SSLContext, *, also_plain: bool = False) -> int:
        """The port where TLS leads to the server at `port`. `also_plain`: so does what speaks none,
        as do servers among each other."""
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        accepting = self._accept(listener, port, context, also_plain)
        asyncio.run_coroutine_threadsafe(accepting, self._loop)
        return int(listener.getsockname()[1])

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _accept(
        self, listener: socket.socket, port: int, context: ssl.SSLContext, also_plain: bool
    ) -> None:
        serving: set[asyncio.Task[None]] = set()
        with listener:
            while True:
                client, _ = await self._loop.sock_accept(listener)
                task = asyncio.create_task(self._serve(client, port, context, also_plain))
                serving.add(task)
                task.add_done_callback(serving.discard)

    async def _serve(
        self, client: socket.socket, port: int, context: ssl.SSLContext, also_plain: bool
    ) -> None:
        with client, suppress(OSError):
            tls = None if also_plain and await self._first(client) != HELLO else context
            reader = asyncio.StreamReader()
            transport, protocol = await self._loop.connect_accepted_socket(
                lambda: asyncio.StreamReaderProtocol(reader), client, ssl=tls
            )
            writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
            there = await asyncio.open_connection("127.0.0.1", port)
            both = [_pass_on(reader, there[1]), _pass_on(there[0], writer)]
            try:
                await asyncio.wait(
                    [asyncio.create_task(one) for one in both], return_when="FIRST_COMPLETED"
                )
            finally:
                for end in (writer, there[1]):
                    end.close()

    async def _first(self, client: socket.socket) -> bytes:
        """The first byte, which stays to be read."""
        readable = asyncio.Event()
        self._loop.add_reader(client, readable.set)
        try:
            await readable.wait()
        finally:
            self._loop.remove_reader(client)
        return client.recv(1, socket.MSG_PEEK)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()


@contextmanager
def terminator() -> Iterator[Terminator]:
    started = Terminator()
    try:
        yield started
    finally:
        started.close()
