"""One stream of very many items: the memory of the worker that answers it stays flat."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.e2e.running import services
from tests.e2e.test_streams import Stream
from tests.fire.forms import SERVED, STREAMED

MIB = 1 << 20
MOST_GROWTH = 24 * MIB


def resident(worker: int) -> int:
    """Bytes of memory that a process has."""
    status = Path(f"/proc/{worker}/status").read_text()
    found = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(found.split()[1]) * 1024


def chunks() -> Iterator[bytes]:
    """Lines, 50 at a time: of four texts one is a near copy of the one before it, one its twin."""
    for start in range(0, STREAMED, 50):
        yield b"".join(line(number) for number in range(start, start + 50))


def line(number: int) -> bytes:
    about = number // 4 * 4 if number % 4 in (1, 2) else number
    words = [f"word{about}x{place}" for place in range(40)]
    if number % 4 == 1:
        words[7] = "otherwise"
    return json.dumps({"id": f"item-{number}", "text": " ".join(words)}).encode() + b"\n"


def test_the_worker_s_memory_is_flat_over_one_long_stream(tmp_path: Path) -> None:
    with services(tmp_path) as start:
        service = start(**{**SERVED, "TWINSIFT_WORKERS": "1"}).ready()
        [worker] = service.workers()
        with closing(Stream(service.port, {"Transfer-Encoding": "chunked"})) as stream:

            def send() -> None:
                for chunk in chunks():
                    stream.send_chunk(chunk)
                stream.send_chunk(b"")

            sender = threading.Thread(target=send)
            sender.start()
            results, memory = 0, []
            for chunk in stream.chunks():
                before, results = results, results + chunk.count(b"\n")
                if results * 10 // STREAMED > before * 10 // STREAMED:
                    memory.append(resident(worker))
            sender.join()
    assert results == STREAMED
    assert memory[-1] - memory[1] < MOST_GROWTH, [size // MIB for size in memory]
