"""Reading amounts: numbers with what belongs to them, in digits and in words."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from service.text import fact_numbers as numbers
from service.text import fact_units as units
from service.text.changes_kinds import ChangeKind
from service.text.fact_atoms import RANGE_SIGNS, TokenStream
from service.text.fact_dates import is_year
from service.text.fact_phrases import LABELS
from service.text.fact_tokens import Shape

_WORKING: Final = {"business": "working", "working": "working", "calendar": "", "full": ""}
_PER_CENT_SIGNS: Final = frozenset("%‰٪％")
_OTHER_DOLLARS: Final = frozenset({"aud", "cad", "nzd", "sgd", "hkd"})
_DOLLARS: Final = {"us": "USD", "a": "AUD", "au": "AUD", "c": "CAD", "ca": "CAD", "nz": "NZD",
                   "hk": "HKD", "s": "SGD", "r": "BRL"}  # fmt: skip
NUMBER_WORDS: Final = frozenset(
    {*numbers.ONES, *numbers.TENS, *numbers.ORDINALS, *numbers.TIMES, *numbers.PARTS,
     *numbers.SCALES_PLURAL,
     "dozen", "dozens"}
)  # fmt: skip
# Words that belong to an amount, where they stand beside one.
AMOUNT_WORDS: Final = frozenset(
    {*NUMBER_WORDS, *numbers.SCALES, *numbers.SHORT_SCALES, *numbers.ORDINAL_ENDINGS}
    | {*units.UNITS, *units.RATES, *units.RATE_UNITS, *units.CURRENCY_WORDS, *units.PERCENT_WORDS}
    | {word for pair in units.PER_CENT for word in pair}
    | {*_WORKING, "percentage", "point", "points"}
)


class AmountReader(TokenStream):
    """Reads what starts with a number, a currency or a rate."""

    def _read_amount(
        self, first: int, last: int, value: object, after: int, currency: str = ""
    ) -> int:
        """A number with what follows it: scale, currency, per cent, unit, ordinal ending."""
        value, after = self._scaled(value, after, currency)
        if (
            self._sign(after) == "("
            and self._sign(after + 2) == ")"
            and self._tokens[after + 1].value == value
        ):
            after += 3  # thirty (30) days
        word, sign = self._word(after), self._sign(after)
        if not currency and sign in units.CURRENCY_SIGNS and not self._is_number(after + 1):
            currency, after = units.CURRENCY_SIGNS[sign], after + 1
        elif word in units.CURRENCY_WORDS and (
            currency in {"", units.CURRENCY_WORDS[word]}
            or (currency == "USD" and word in _OTHER_DOLLARS)
        ):
            currency, after = units.CURRENCY_WORDS[word], after + 1
        if currency:
            self._share_in_range(ChangeKind.MONEY, first, currency)
            after = self._add(("m", value, currency), ChangeKind.MONEY, first, after)
            return self._read_slash_rate(after)
        if currency := self._currency_before(first):
            return self._add(("m", value, currency), ChangeKind.MONEY, first, after)
        if length := self._per_cent(after):
            self._share_in_range(ChangeKind.PERCENT, first, sign == "‰")
            percent = ("%", value, sign == "‰")
            return self._add(percent, ChangeKind.PERCENT, first, after + length)
        if word == "percentage" and self._word(after + 1) in {"point", "points"}:
            return self._add(("pp", value), ChangeKind.PERCENT, first, after + 2)
        if word in numbers.ORDINAL_ENDINGS and self._tokens[after].start == self._tokens[last].end:
            return self._add(("o", value), ChangeKind.NUMBER, first, after + 1)
        if word in {"a", "an"} and value == numbers.PARTS["half"]:
            after += self._word(after + 1) in units.UNITS  # half an hour
        if (unit := self._unit(after, last)) is not None:
            name, factor, after = unit
            self._share_in_range(ChangeKind.QUANTITY, first, name, factor)
            key = ("q", numbers.times(value, factor), name)
            after = self._add(key, ChangeKind.QUANTITY, first, after)
            return self._read_slash_rate(after)
        return self._add_number(first, last, value, after)

    def _read_currency(self, at: int) -> int:
        currency = units.CURRENCY_SIGNS[self._tokens[at].text]
        first, after = at, at + 1
        before = self._found[-1] if self._found else None
        if before and before.end == self._tokens[at].start and str(before.key) in _DOLLARS:
            self._found.pop()  # US$ 5, A$ 5: the letters belong to the sign
            currency = _DOLLARS[str(before.key)]
            first = at - 1
        negative = self._sign(after) in {"-", "−", "–"}
        after += negative
        if after < len(self._tokens) and self._tokens[after].shape is Shape.NUMBER:
            value = numbers.times(self._tokens[after].value, -1 if negative else 1)
            return self._read_amount(first, after, value, after + 1, currency)
        return self._add(("sign", currency), ChangeKind.MONEY, first, at + 1)

    def _read_number_words(self, at: int) -> int | None:
        words = [self._word(step) for step in range(at, min(at + 8, len(self._tokens)))]
        word = words[0]
        if word in numbers.TIMES:
            value = Fraction(numbers.TIMES[word])
            return self._add(("q", value, "time"), ChangeKind.QUANTITY, at, at + 1)
        if word in numbers.ORDINALS:
            key = ("o", Fraction(numbers.ORDINALS[word]))
            weak = word in numbers.OFTEN_NO_NUMBER
            return self._add(key, ChangeKind.NUMBER, at, at + 1, weak)
        if word in numbers.SCALES_PLURAL:
            return self._add(("n", word), ChangeKind.NUMBER, at, at + 1)
        if word == "half" and self._word(at + 1) in {"a", "an"}:
            return self._read_amount(at, at, numbers.PARTS[word], at + 1)
        if word in numbers.PARTS:
            return self._add(("n", numbers.PARTS[word]), ChangeKind.NUMBER, at, at + 1, weak=True)
        if word in {"dozen", "dozens"}:
            return self._add(("n", Fraction(12)), ChangeKind.NUMBER, at, at + 1)
        read = numbers.words_value(words)
        if read is None:
            return None
        value, used = read
        part = self._word(at + used)
        if part in numbers.PARTS and (value == 1 or part.endswith("s")):
            value *= numbers.PARTS[part]
            return self._add(("n", value), ChangeKind.NUMBER, at, at + used + 1)
        return self._read_amount(at, at + used - 1, value, at + used)

    def _read_rate(self, at: int) -> int | None:
        """`per day`, `a day`, `each year`; a rate after a slash is read with its amount."""
        unit = self._word(at + 1)
        if unit not in units.RATE_UNITS:
            return None
        weak = self._word(at) in {"a", "an", "each"}
        key = ("rate", units.RATE_UNITS[unit])
        return self._add(key, ChangeKind.QUANTITY, at, at + 2, weak)

    def _add_number(self, first: int, last: int, value: object, after: int) -> int:
        token = self._tokens[last]
        kind, weak = ChangeKind.NUMBER, False
        if self._word(first - 1) in LABELS:
            kind = ChangeKind.IDENTIFIER
        elif token.shape is Shape.NUMBER and is_year(self._tokens, last):
            kind = ChangeKind.DATE
        elif token.shape is Shape.WORD and token.text in numbers.OFTEN_NO_NUMBER:
            weak = True
        return self._read_slash_rate(self._add(("n", value), kind, first, after, weak))

    def _currency_before(self, first: int) -> str:
        """The currency where a number ends a range that began with money: $5-10."""
        before = self._found[-1] if self._found else None
        if before is None or not isinstance(before.key, tuple) or before.key[0] != "m":
            return ""
        between = self._text[before.end : self._tokens[first].start]
        return str(before.key[2]) if between.strip() in RANGE_SIGNS else ""

    def _per_cent(self, at: int) -> int:
        """How many tokens say per cent here."""
        if self._sign(at) in _PER_CENT_SIGNS or self._word(at) in units.PERCENT_WORDS:
            return 1
        return 2 if (self._word(at), self._word(at + 1)) in units.PER_CENT else 0

    def _scaled(self, value: object, after: int, currency: str) -> tuple[object, int]:
        """`1.5 million`, `$80K`, `3 dozen`; one letter only with a currency or a capital."""
        word = self._word(after)
        if word in numbers.SCALES:
            return numbers.times(value, numbers.SCALES[word]), after + 1
        if word in numbers.SHORT_SCALES:
            token = self._tokens[after]
            touches = token.start == self._tokens[after - 1].end
            is_capital = self._text[token.start].isupper() or word == "k"
            if touches and (currency or (is_capital and word in {"k", "m"})):
                return numbers.times(value, numbers.SHORT_SCALES[word]), after + 1
        return value, after

    def _unit(self, after: int, last: int) -> tuple[str, Fraction, int] | None:
        word, sign = self._word(after), self._sign(after)
        if sign in {"°", "º"}:
            scale = self._word(after + 1)
            name = {"c": "celsius", "f": "f", "k": "kelvin"}.get(scale, "degree")
            return name, Fraction(1), after + (1 if name == "degree" else 2)
        if sign in {'"', "″"} and self._tokens[after].start == self._tokens[last].end:
            return None if self._is_quoted(last) else ("inch", Fraction(1), after + 1)
        if word in _WORKING and self._word(after + 1) in units.UNITS:
            base, factor = units.UNITS[self._word(after + 1)]
            return f"{_WORKING[word]} {base}".strip(), factor, after + 2
        if word not in units.UNITS:
            return None
        if word in units.LETTER_UNITS and len(word) < 3 and self._tokens[last].shape is Shape.WORD:
            return None
        base, factor = units.UNITS[word]
        if base == "degree" and self._word(after + 1) in {"celsius", "fahrenheit"}:
            base, factor = units.UNITS[self._word(after + 1)]
            after += 1
        return base, factor, after + 1

    def _is_quoted(self, at: int) -> bool:
        """Whether a quote is open before the number, so that the one after it closes it."""
        return any(self._sign(step) in {'"', "“"} for step in range(max(0, at - 6), at))

    def _read_slash_rate(self, after: int) -> int:
        """`$5/hour`, `5 mg/kg`: the slash is a `per`."""
        word = self._word(after)
        if word in units.RATE_UNITS and after:
            start, end = self._tokens[after - 1].end, self._tokens[after].start
            if self._text[start:end].strip() == "/":
                key = ("rate", units.RATE_UNITS[word])
                return self._add(key, ChangeKind.QUANTITY, after, after + 1)
        return after
