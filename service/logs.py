"""The log: one JSON object a line on stderr, and never a word of what was posted.

Exceptions are told by their types and their way through the code: their messages and the values in
their frames may quote a request.
"""

from __future__ import annotations

import logging
import logging.config
import traceback
from datetime import UTC, datetime
from typing import Any

import orjson

_MOST_STEPS = 200
_FRAMES_AN_EXCEPTION = 30


def fields(**told: Any) -> dict[str, Any]:
    """Facts for a line of the log: `_log.info("request", extra=fields(status=200))`."""
    return {"fields": told}


def way(error: BaseException | None) -> list[str]:
    """Types and places of an exception and its causes: no messages, no values."""
    steps: list[str] = []
    while error is not None and len(steps) < _MOST_STEPS:
        steps.append(type(error).__qualname__)
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES_AN_EXCEPTION:]
        steps += [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        error = error.__cause__ or error.__context__
    return steps


class JsonFormatter(logging.Formatter):
    """One line: time, level, logger, process, message, and the facts that came with it."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a JSON object without a line break."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": record.process,
            "message": _message(record),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["way"] = way(record.exc_info[1])
        return orjson.dumps(line, default=_kind, option=orjson.OPT_NON_STR_KEYS).decode()


def _message(record: logging.LogRecord) -> str:
    """What is logged; beside an exception without its arguments, such as the path of a request."""
    if isinstance(record.msg, Exception):
        return _kind(record.msg)
    if record.exc_info:
        return str(record.msg)
    if isinstance(record.args, tuple):
        told = tuple(_kind(one) if isinstance(one, Exception) else one for one in record.args)
        return str(record.msg) % told if told else str(record.msg)
    return record.getMessage()


def _kind(value: object) -> str:
    return type(value).__qualname__


def configuration(level: str) -> dict[str, Any]:
    """For `logging.config.dictConfig`, and for gunicorn. What others log counts from `warning` on,
    gunicorn from `info` on, whatever `level` says: at `debug` it logs paths."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "json",
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"level": "WARNING", "handlers": ["stderr"]},
        "loggers": {
            "twinsift": {"level": level.upper()},
            "gunicorn.error": {"level": "INFO", "handlers": ["stderr"], "propagate": False},
            "gunicorn.access": {"level": "CRITICAL", "handlers": [], "propagate": False},
        },
    }


def configure(level: str) -> None:
    """Has this process log so."""
    logging.raiseExceptions = False  # or a line that cannot be written is printed as it came
    logging.captureWarnings(capture=True)
    logging.config.dictConfig(configuration(level))
