"""twinsift for programs in Python: `from service.client import Twinsift`.

Importing it brings in nothing of the server. Every call may be asked again without harm, and is:
see `Patience`. Whatever goes wrong is a `TwinsiftError`.
"""

from service.client.answers import (
    Answer,
    Candidates,
    Change,
    Cleaned,
    Cleaning,
    Comparison,
    ConflictRef,
    Example,
    Hashes,
    Leak,
    Match,
    Problem,
    Removal,
    Similarity,
    Supersedes,
)
from service.client.errors import Fault, Refused, TwinsiftError, Unavailable
from service.client.patience import Patience
from service.client.reviewed import (
    Conflict,
    Decision,
    DecisionPage,
    NearMiss,
    NearMissSide,
    Resolution,
    Reverted,
    Ruling,
    Side,
)
from service.client.stored import (
    Collection,
    CollectionStatistics,
    Deleted,
    Document,
    DocumentCounts,
    Pending,
    Statistics,
    StoreFigures,
    Twin,
)
from service.client.twinsift import Twinsift

__all__ = [
    "Answer",
    "Candidates",
    "Change",
    "Cleaned",
    "Cleaning",
    "Collection",
    "CollectionStatistics",
    "Comparison",
    "Conflict",
    "ConflictRef",
    "Decision",
    "DecisionPage",
    "Deleted",
    "Document",
    "DocumentCounts",
    "Example",
    "Fault",
    "Hashes",
    "Leak",
    "Match",
    "NearMiss",
    "NearMissSide",
    "Patience",
    "Pending",
    "Problem",
    "Refused",
    "Removal",
    "Resolution",
    "Reverted",
    "Ruling",
    "Side",
    "Similarity",
    "Statistics",
    "StoreFigures",
    "Supersedes",
    "Twin",
    "Twinsift",
    "TwinsiftError",
    "Unavailable",
]
