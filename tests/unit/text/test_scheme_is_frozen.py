"""What stored hashes and signatures depend on does not change unnoticed.

A text that comes out otherwise here is another scheme: raise CLEANING_VERSION or
NORMALIZATION_VERSION with the new value.
"""

from hashlib import sha256

from service.text.cleaning import CLEANING_VERSION, CleaningRules, clean
from service.text.normalization import NORMALIZATION_VERSION, normalize

TEXTS = [
    "The ferry leaves at 7:30, costs $12.50 and takes 45 minutes (±5).",
    "Größe 12,500 m² — “quoted”, don’t panic; C++ and F# at 20 °C, −5 % or §3.",
    "Мост закрыт до понедельника. 橋は月曜日まで閉鎖です。 สะพานปิดถึงวันจันทร์",
    "İstanbul ılık, Straße; x ≤ 5 ≠ y, 1/2 or ½, v1.2.3, https://example.org/a?b=1",
    "👍🏽 yes 👩‍👩‍👧 no???",
]
BODIES = ["Moor at the steps.", "Keep  left of the buoy.\x07", "No fires.", "Pay\tat the hut."]
PAGES = [
    f"Harbour rules\n{body}\n\nIn spring the gate is shut.\nWARNING: deep water\nPage {n} of 4"
    for n, body in enumerate(BODIES, 1)
]


def digest(parts: list[str]) -> str:
    return sha256("\x00".join(parts).encode()).hexdigest()[:16]


def test_words_normalise_as_version_1_does():
    assert (NORMALIZATION_VERSION, digest([normalize(text, "words") for text in TEXTS])) == (
        1,
        "ed3304734240f877",
    )


def test_squished_texts_normalise_as_version_1_does():
    assert (NORMALIZATION_VERSION, digest([normalize(text, "squish") for text in TEXTS])) == (
        1,
        "9f8cc3926ffb6dbe",
    )


def test_pages_are_cleaned_as_version_1_does():
    assert (CLEANING_VERSION, digest(list(clean(PAGES, CleaningRules()).pages))) == (
        1,
        "690c2066af3d7b2d",
    )
