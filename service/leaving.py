"""How a worker leaves: whoever reached it is answered, and nobody else is let in."""

from __future__ import annotations

import select
from typing import Any

from gunicorn.workers.gthread import ThreadWorker


class LeavingWorker(ThreadWorker):
    """Gunicorn's threaded worker, which by itself goes on listening while it takes no connections:
    who connects then waits, and is cut off when it ends."""

    def set_accept_enabled(self, enabled: bool | None) -> None:
        """Takes connections, or no more of them. Told to stop it takes those that wait already and
        listens no longer: who comes then goes to the workers that stay, or is refused at once."""
        super().set_accept_enabled(enabled)
        if self.alive:
            return
        for listener in self.sockets:
            if _is_closed(listener):  # a worker that stops early is told so twice
                continue
            while _someone_waits(listener):
                self.accept(listener)
            listener.close()


def _is_closed(listener: Any) -> bool:
    return listener.sock is None


def _someone_waits(listener: Any) -> bool:
    waiting = select.poll()  # `select` itself takes no descriptor above 1,023
    waiting.register(listener.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
