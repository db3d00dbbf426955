"""Sentences in which one thing changes, set among others that stay."""

from collections.abc import Callable

import pytest

from service.text.changes import Changes, find_changes

BEFORE = "The mill lends its tools to every household of the valley and keeps a list of them. "
AFTER = " Whoever brings a tool back signs the list that hangs beside the big door."


@pytest.fixture(params=["alone", "among others"])
def between(request) -> Callable[[str, str], Changes]:
    """The changes between two sentences, alone and with the same sentences around both."""

    def changes(before: str, after: str) -> Changes:
        if request.param == "alone":
            return find_changes(before, after)
        return find_changes(BEFORE + before + AFTER, BEFORE + after + AFTER)

    return changes
