"""README's requests get README's answers."""

import json
import re
from pathlib import Path

import pytest

from service.app import create_app
from service.settings import Settings

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
REQUESTS = [json.loads(body) for body in re.findall(r"-d '(\{.*?\})'", README, re.DOTALL)]
ANSWERS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", README, re.DOTALL)]


@pytest.fixture
def client(redis_url: str, redis_client: object):
    return create_app(Settings(redis_url=redis_url)).test_client()


def test_every_request_that_readme_shows_gets_the_answer_that_it_shows(client):
    assert [client.post("/check", json=body).get_json() for body in REQUESTS] == ANSWERS


def test_readme_shows_a_new_text_and_a_duplicate_of_it():
    assert [answer["verdict"] for answer in ANSWERS] == ["new", "exact_duplicate"]


def test_the_decision_that_readme_names_is_in_the_log_and_can_be_taken_back(client):
    for body in REQUESTS:
        client.post("/check", json=body)
    copy = ANSWERS[-1]
    entries = client.get("/decisions", query_string={"document": copy["id"]}).get_json()["items"]
    assert [entry["id"] for entry in entries] == [copy["decision"]]
    assert f"/decisions/{copy['decision']}/revert" in README
    assert client.post(f"/decisions/{copy['decision']}/revert", json={}).status_code == 200
