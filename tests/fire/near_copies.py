"""Families of near copies: texts of which any two of a family are 0.9 alike or more."""

import random
from functools import lru_cache

COPIES = 6
FAMILIES_AT_ONCE = 4
WORDS = 150
LEAST_ALIKE = 0.9


@lru_cache(maxsize=1024)
def family(number: int) -> tuple[str, ...]:
    """The copies of a family, the same in every process: two of them equal, one equal but for its
    case, three that differ in a word. No facts differ, so that nothing waits for a ruling."""
    drawn = random.Random(number)
    words = [made_up_word(drawn) for _ in range(WORDS)]
    text = " ".join(words)
    return (
        text,
        text,
        text.upper(),
        " ".join([*words[:-1], "last"]),
        " ".join([*words[:50], "other", *words[51:]]),
        " ".join([*words[:100], "another", *words[101:]]),
    )


def made_up_word(drawn: random.Random) -> str:
    """Six letters: a number in it would be a fact."""
    return "".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=6))


def request_for(number: int, copy: int) -> dict[str, str]:
    """The check of one copy of a family, under an id of its own."""
    return {"id": f"f{number}-{copy}", "text": family(number)[copy]}


def family_of(id: str) -> str:
    """The family, by the id that `request_for` gave."""
    return id.partition("-")[0]


def shuffled_requests(families: int, seed: int) -> list[dict[str, str]]:
    """All copies of so many families in random order, those of a few families at a time: what is
    told `new` is decided among copies that are under way together."""
    drawn = random.Random(seed)
    numbers, requests = list(range(families)), []
    drawn.shuffle(numbers)
    for at in range(0, families, FAMILIES_AT_ONCE):
        few = numbers[at : at + FAMILIES_AT_ONCE]
        next_ones = [request_for(number, copy) for number in few for copy in range(COPIES)]
        drawn.shuffle(next_ones)
        requests += next_ones
    return requests
