"""`make demo`: a service of its own, filled with texts to look at, until Ctrl-C."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

from demo.filling import fill
from demo.serving import serving
from service.client import Twinsift

GUIDE = """
The demo is ready: {address}/review

Two editions of an employee handbook were posted, notices, copies that somebody pasted
elsewhere, and descriptions of packages. {open} conflicts wait for a person.

  {address}/review             the state at a glance
  {address}/review/conflicts   rule with the keys 1, 2, 3; j and k move, u takes back
  {address}/review/decisions   what was dropped and why; look for `remote-work`
  {address}/review/thresholds  what another threshold would do
  {address}/review/try         paste a text: what would a check answer?

Nothing is kept: Ctrl-C stops the service and removes its data.
"""


def main() -> None:
    """Serves until it is told to stop, by Ctrl-C or SIGTERM."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        with tempfile.TemporaryDirectory(prefix="twinsift-demo-") as directory:
            print("Starting a service and filling it …", flush=True)
            with serving(Path(directory)) as address:
                with Twinsift(address) as twinsift:
                    fill(twinsift)
                    waiting = sum(1 for _ in twinsift.conflicts(status="open"))
                print(GUIDE.format(address=address, open=waiting), flush=True)
                signal.pause()
    except KeyboardInterrupt:
        print("\nThe demo has ended.")
    except RuntimeError as error:
        sys.exit(f"make demo: {error}")


def _stop(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
