"""Texts that make conflicts, posted as workers post them."""

from service.client import Twinsift

RULES = (
    """A booking can be cancelled for a full refund until HOURS before the rental starts. After
that, half of the price is refunded, and nothing once the bike has been collected.""",
    """The shop at the mill pond lends every helmet and lock free of charge for HOURS, and both are
to be returned, clean and dry, to the counter where they were picked up.""",
    """Whoever keeps a cargo bike for HOURS pays a deposit in advance, and is shown the brakes and
the stand before the first ride by somebody of the workshop.""",
)


def conflicts(worker: Twinsift, other: Twinsift, *, count: int = 1) -> list[str]:
    """So many open conflicts, the oldest first: one worker posts each rule, another the same with
    another figure."""
    made = []
    for number, rule in enumerate(RULES[:count]):
        worker.check(f"rule-{number}", rule.replace("HOURS", "2 hours"))
        answer = other.check(f"new-rule-{number}", rule.replace("HOURS", "3 hours"))
        assert answer.conflict
        made.append(answer.conflict.id)
    return made
