"""The settings of a collection, and the scheme: the part that stored signatures depend on.

A signature says something only beside signatures made the same way. So everything that goes into
one (cleaning, normalisation, shingles, permutations, bands) is frozen at the first document of a
collection, and is written down with it under version numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from service.dedup.banding import Banding, banding_for
from service.dedup.minhash import SIGNATURE_ALGORITHM
from service.dedup.shingles import Shingles
from service.text.cleaning import CLEANING_VERSION, CleaningRules, RepeatedLines
from service.text.normalization import NORMALIZATION_VERSION, Kind

SCHEME_VERSION = 1
DEFAULT_COLLECTION = "default"


@dataclass(frozen=True, slots=True)
class CollectionSettings:
    """Everything a collection can be told. `threshold` is a Jaccard similarity in (0, 1];
    `partitions` over how many slots of a cluster its data is spread."""

    cleaning: CleaningRules = field(default_factory=CleaningRules)
    normalization: Kind = "words"
    shingles: Shingles = field(default_factory=Shingles)
    threshold: float = 0.6
    survivor: tuple[str, ...] = ("newest", "authority", "richest", "first")
    on_conflict: str = "review"
    ttl_days: int | None = None
    partitions: int = 1

    def as_json(self) -> dict[str, Any]:
        """The settings as the wire and the store write them."""
        return asdict(self)

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> CollectionSettings:
        """The settings that `as_json` wrote, or a caller sent in full."""
        return cls(
            cleaning=rules_from_json(written["cleaning"]),
            normalization=written["normalization"],
            shingles=Shingles(**written["shingles"]),
            threshold=written["threshold"],
            survivor=tuple(written["survivor"]),
            on_conflict=written["on_conflict"],
            ttl_days=written["ttl_days"],
            partitions=written["partitions"],
        )

    def merged(self, partial: Mapping[str, Any]) -> CollectionSettings:
        """These settings with what `partial` names changed; objects inside are merged too."""
        return CollectionSettings.from_json(merge(self.as_json(), partial))

    def frozen_difference(self, other: CollectionSettings) -> str | None:
        """The first frozen setting in which `other` differs from these; None where none does."""
        for name in ("cleaning", "normalization", "shingles"):
            if getattr(self, name) != getattr(other, name):
                return name
        return None


def rules_from_json(written: Mapping[str, Any]) -> CleaningRules:
    """Cleaning rules from their wire form; `repeated_lines` null means off."""
    repeated = written["repeated_lines"]
    return CleaningRules(
        **{
            **written,
            "repeated_lines": None if repeated is None else RepeatedLines(**repeated),
            "protect": tuple(written["protect"]),
        }
    )


def merge(base: Mapping[str, Any], partial: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the members of `partial` over it, objects merged member by member (RFC 7396,
    except that null is a value here)."""
    result = dict(base)
    for name, value in partial.items():
        old = result.get(name)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            result[name] = merge(old, value)
        else:
            result[name] = value
    return result


@dataclass(frozen=True, slots=True)
class Scheme:
    """How the signatures of a collection are made, chosen when it is made.

    `threshold` is the lowest threshold the bands were chosen for: the collection's own may rise
    above it, never fall below.
    """

    version: int
    cleaning_version: int
    normalization_version: int
    algorithm: str
    threshold: float
    banding: Banding

    def as_json(self) -> dict[str, Any]:
        """The scheme as the wire and the store write it."""
        return asdict(self)

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Scheme:
        """The scheme that `as_json` wrote."""
        return cls(**{**written, "banding": Banding(**written["banding"])})

    @property
    def is_current(self) -> bool:
        """Whether this code makes signatures of this very scheme."""
        return self == scheme_for(self.threshold)


def scheme_for(threshold: float) -> Scheme:
    """The scheme of a new collection with this threshold."""
    return Scheme(
        version=SCHEME_VERSION,
        cleaning_version=CLEANING_VERSION,
        normalization_version=NORMALIZATION_VERSION,
        algorithm=SIGNATURE_ALGORITHM,
        threshold=threshold,
        banding=banding_for(threshold),
    )
