"""The steps of deploy/README.md that copy what is kept, and bring it back, keep every verdict."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.own_store import DEPLOY
from tests.e2e.running import Service, services

FILES = "appendonlydir"
RENTAL = "A rented bike is yours for {} hours, with helmet, lamp and lock, until the shop closes."
TEXTS = {
    "kept": RENTAL.format(2),
    "copy": RENTAL.format(2),
    "worded": RENTAL.format(2) + " Enjoy!",
    "held": RENTAL.format(3),
    "unlike": "The first tram leaves the depot at ten past five on every working day of the year.",
}
ALIKE = ("id", "verdict", "action", "match", "conflict", "decision", "family", "retire", "reason")


def post(service: Service, id: str, text: str) -> Any:
    status, answer = service.call("POST", "/check", {"id": id, "text": text})
    assert status == 200, answer
    return answer


def post_all(service: Service) -> list[dict[str, Any]]:
    """What each text is answered, without what tells a first answer from a replay."""
    answers = [post(service, id, text) for id, text in TEXTS.items()]
    return [{field: answer[field] for field in ALIKE} for answer in answers]


def backup(data_dir: Path, target: Path) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(DEPLOY / "backup.sh"), str(data_dir), str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def restore(copy: Path, data_dir: Path) -> None:
    """What the guide says: the copy in the place of the store's own files."""
    shutil.rmtree(data_dir / FILES, ignore_errors=True)
    shutil.copytree(copy / FILES, data_dir / FILES)


@pytest.fixture
def lost(tmp_path: Path) -> Path:
    """The data directory of another machine, which has nothing yet."""
    directory = tmp_path / "other"
    directory.mkdir()
    return directory


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with services(tmp_path / "data") as start:
        yield start(TWINSIFT_REDIS_URL="", TWINSIFT_WORKERS="1").ready()


def answers_of_a_service_on(data_dir: Path) -> list[dict[str, Any]]:
    with services(data_dir) as start:
        restored = start(TWINSIFT_REDIS_URL="", TWINSIFT_WORKERS="1").ready()
        answers = post_all(restored)
        assert all(post(restored, id, text)["replayed"] for id, text in TEXTS.items())
        return answers


def test_a_copy_that_was_made_while_the_service_stood_gives_every_verdict_again(
    service: Service, tmp_path: Path, lost: Path
) -> None:
    answers = post_all(service)
    service.wait_for_disk()
    assert service.stop() == 0
    assert backup(service.data_dir, tmp_path / "copy").returncode == 0
    restore(tmp_path / "copy", lost)
    assert answers_of_a_service_on(lost) == answers


def test_a_copy_that_was_made_while_texts_were_posted_has_all_that_was_answered_before_it(
    service: Service, tmp_path: Path, lost: Path
) -> None:
    answers = post_all(service)
    service.wait_for_disk()
    begun, done = threading.Event(), threading.Event()

    def go_on_posting() -> None:
        number = 0
        while not done.is_set():
            post(service, f"later-{number}", f"Notice {number} {number * 7} {number * 13}")
            number += 1
            begun.set()

    poster = threading.Thread(target=go_on_posting)
    poster.start()
    try:
        assert begun.wait(30)
        copied = backup(service.data_dir, tmp_path / "copy")
    finally:
        done.set()
        poster.join()
    assert copied.returncode == 0, copied.stderr
    restore(tmp_path / "copy", lost)
    assert answers_of_a_service_on(lost) == answers


def test_what_came_after_a_copy_is_gone_once_it_is_restored(
    service: Service, tmp_path: Path
) -> None:
    answers = post_all(service)
    service.wait_for_disk()
    assert backup(service.data_dir, tmp_path / "copy").returncode == 0
    post(service, "too-late", "Words that nobody posted before the copy was made.")
    assert service.stop() == 0
    restore(tmp_path / "copy", service.data_dir)
    assert answers_of_a_service_on(service.data_dir) == answers
    with services(service.data_dir) as start:
        restored = start(TWINSIFT_REDIS_URL="", TWINSIFT_WORKERS="1").ready()
        assert restored.call("GET", "/documents?id=too-late")[0] == 404


@pytest.mark.parametrize("found", ["no append-only file", "a copy in"])
def test_a_backup_that_cannot_be_made_says_why_and_leaves_what_is_there(
    tmp_path: Path, found: str
) -> None:
    data, target = tmp_path / "data", tmp_path / "copy"
    if found == "a copy in":
        for directory in (data, target):
            (directory / FILES).mkdir(parents=True)
        (data / FILES / "appendonly.aof.manifest").write_text("")
        (target / FILES / "earlier").write_text("")
    outcome = backup(data, target)
    assert (outcome.returncode, found in outcome.stderr) == (1, True)
    assert (target / FILES / "earlier").exists() == (found == "a copy in")
