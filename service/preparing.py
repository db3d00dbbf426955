"""From a posted text to what comparing it needs: cleaned, normalised, hashed, cut, signed."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from service.dedup.minhash import signature
from service.dedup.scheme import CollectionSettings, Scheme
from service.dedup.shingles import ShingleSet, shingle_set
from service.dedup.verdict import Hashes, Posted
from service.errors import EmptyText, Fault
from service.text.cleaning import Cleaned, clean
from service.text.normalization import normalize


@dataclass(slots=True)
class Prepared:
    """A posted text with everything that comparing needs."""

    cleaned: Cleaned
    hashes: Hashes
    shingles: ShingleSet
    signature: bytes


def pages_of(posted: Posted) -> tuple[str, ...]:
    """The pages of a posted text: one where it has no form feeds."""
    return posted.pages if posted.pages is not None else (posted.text or "",)


def posted_bytes(posted: Posted) -> bytes:
    """The text as posted, as bytes: pages joined by form feeds, UTF-8."""
    if posted.text is not None:
        return posted.text.encode()
    return "\f".join(posted.pages or ()).encode()


def shingles_of(text: str, settings: CollectionSettings) -> ShingleSet:
    """The shingles of a cleaned text under the settings of a collection."""
    return shingle_set(normalize(text, settings.normalization), settings.shingles)


def nothing_left(pointer: str) -> EmptyText:
    """What to raise where nothing of the text at `pointer` can be compared."""
    detail = "nothing visible is left of the text"
    return EmptyText(detail, (Fault(pointer, "empty_text", detail),))


def prepare(posted: Posted, settings: CollectionSettings, scheme: Scheme) -> Prepared:
    """Cleans, normalises, hashes, shingles and signs a text.

    Raises EmptyText where nothing visible is left of it.
    """
    cleaned = clean(pages_of(posted), settings.cleaning)
    normalized = normalize(cleaned.text, settings.normalization)
    if not normalized:
        raise nothing_left("/text" if posted.text is not None else "/pages")
    shingles = shingle_set(normalized, settings.shingles)
    return Prepared(
        cleaned=cleaned,
        hashes=Hashes(
            bytes=sha256(posted_bytes(posted)).digest(),
            normalized=sha256(normalized.encode()).digest(),
        ),
        shingles=shingles,
        signature=signature(shingles, scheme.banding),
    )
