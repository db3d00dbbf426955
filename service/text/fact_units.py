"""Units and currencies: their names, and which are the same in another size."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

# canonical unit: (base unit, how many of it), then all names. Only what is exact everywhere is
# converted: an hour is 60 minutes, a week seven days; a day is not taken for 24 hours, nor a
# month for 30 days, nor a gigabyte for 1000 megabytes.
_UNITS = """
second 1 second      : s sec secs second seconds sekunde sekunden seconde secondes segundo segundos
second 60 minute     : min mins minute minutes minuten minuto minutos
second 3600 hour     : h hr hrs hour hours stunde stunden heure heures hora horas
day 1 day            : d day days tag tage tagen jour jours día días
day 7 week           : wk wks week weeks woche wochen semaine semaines semana semanas
day 14 fortnight     : fortnight fortnights
night 1 night        : night nights nacht nächte nuit nuits noche noches
month 1 month        : mo month months monat monate monaten mois mes meses
month 3 quarter      : trimester trimesters
month 12 year        : yr yrs year years jahr jahre jahren an ans année années año años
month 120 decade     : decade decades
millisecond 1 ms     : ms msec millisecond milliseconds
m 1/1000 mm          : mm millimetre millimetres millimeter millimeters
m 1/100 cm           : cm centimetre centimetres centimeter centimeters
m 1 m                : m metre metres meter meters
m 1000 km            : km kms kilometre kilometres kilometer kilometers
mile 1 mile          : mi mile miles
foot 1 foot          : ft foot feet
inch 1 inch          : inch inches
yard 1 yard          : yd yards yard
g 1/1000000 mcg      : mcg µg μg microgram micrograms
g 1/1000 mg          : mg milligram milligrams
g 1 g                : g gram grams gramme grammes gramm
g 1000 kg            : kg kgs kilo kilos kilogram kilograms kilogramm
g 1000000 t          : t tonne tonnes
ton 1 ton            : ton tons
lb 1 lb              : lb lbs
pound 1 pound        : pound pounds
ounce 1 ounce        : oz ounce ounces
l 1/1000 ml          : ml millilitre millilitres milliliter milliliters
l 1/100 cl           : cl
l 1 l                : l litre litres liter liters
gallon 1 gallon      : gal gallon gallons
pint 1 pint          : pint pints
cup 1 cup            : cup cups
teaspoon 1 teaspoon  : tsp teaspoon teaspoons
tablespoon 1 spoon   : tbsp tablespoon tablespoons
kb 1 kb              : kb kilobyte kilobytes
mb 1 mb              : mb megabyte megabytes
gb 1 gb              : gb gigabyte gigabytes
tb 1 tb              : tb terabyte terabytes
kib 1 kib            : kib kibibytes
mib 1 mib            : mib mebibytes
gib 1 gib            : gib gibibytes
bit 1 bit            : bit bits
byte 1 byte          : byte bytes
mbit 1 mbit          : mbps mbit mbits
gbit 1 gbit          : gbps gbit gbits
watt 1 watt          : w watt watts
watt 1000 kw         : kw kilowatt kilowatts
kwh 1 kwh            : kwh
volt 1 volt          : v volt volts
ampere 1 ampere      : amp amps ampere amperes
hertz 1 hz           : hz hertz
hertz 1000 khz       : khz
hertz 1000000 mhz    : mhz
hertz 1000000000 ghz : ghz
px 1 px              : px pixel pixels
degree 1 degree      : degree degrees grad degrés grados
celsius 1 celsius    : °c celsius
fahrenheit 1 f       : °f fahrenheit
kcal 1 kcal          : kcal calorie calories
mph 1 mph            : mph
kmh 1 kmh            : kmh kph
acre 1 acre          : acre acres
hectare 1 hectare    : ha hectare hectares
iu 1 iu              : iu
mmol 1 mmol          : mmol
tablet 1 tablet      : tablet tablets
capsule 1 capsule    : capsule capsules
drop 1 drop          : drop drops
puff 1 puff          : puff puffs
page 1 page          : page pages
word 1 word          : word words
character 1 character: character characters char chars
time 1 time          : time times
"""


def _units() -> dict[str, tuple[str, Fraction]]:
    units = {}
    for line in _UNITS.strip().splitlines():
        head, names = line.split(":")
        base, factor, _ = head.split(None, 2)
        units.update(dict.fromkeys(names.split(), (base, Fraction(factor))))
    return units


# name in lower case -> (base unit, how many of it)
UNITS: Final = _units()

# Units whose short names are also words or letters: only right after the digits (5m, 5 m).
LETTER_UNITS: Final = frozenset(
    ["s", "h", "d", "m", "g", "t", "l", "w", "v", "an", "mo", "min", "amp", "time", "times"]
)

# `per day`, `a day`, `daily`: the units that a rate is told in, and words that are a rate.
RATES: Final = {
    "hourly": "hour", "daily": "day", "nightly": "night", "weekly": "week",
    "fortnightly": "fortnight",
    "monthly": "month", "quarterly": "quarter", "yearly": "year", "annual": "year",
    "annually": "year", "biweekly": "two weeks", "bimonthly": "two months",
    "biannual": "half year", "biannually": "half year", "semiannual": "half year",
    "semiannually": "half year", "biennial": "two years", "biennially": "two years",
}  # fmt: skip
RATE_UNITS: Final = {
    name: canonical
    for canonical, names in {
        "second": "second sec s", "minute": "minute min", "hour": "hour hr h", "day": "day d",
        "night": "night", "week": "week wk", "fortnight": "fortnight", "month": "month mo",
        "quarter": "quarter", "year": "year yr annum", "km": "km kilometre kilometer",
        "mile": "mile mi", "kg": "kg kilogram kilo", "l": "l litre liter", "ml": "ml",
        "m": "m metre meter", "person": "person head capita", "gb": "gb", "page": "page",
    }.items()
    for name in names.split()
}  # fmt: skip

CURRENCY_SIGNS: Final = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY",
    "￥": "JPY", "＄": "USD", "₹": "INR", "₽": "RUB", "₩": "KRW",
    "₪": "ILS", "₺": "TRY", "₴": "UAH", "฿": "THB", "₫": "VND", "₱": "PHP", "₦": "NGN",
    "¢": "cent",
}  # fmt: skip
CURRENCY_WORDS: Final = {
    "usd": "USD", "us$": "USD", "dollar": "USD", "dollars": "USD", "eur": "EUR", "euro": "EUR",
    "euros": "EUR", "gbp": "GBP", "sterling": "GBP", "jpy": "JPY", "yen": "JPY", "chf": "CHF",
    "franken": "CHF", "francs": "CHF", "inr": "INR", "rupee": "INR", "rupees": "INR",
    "cad": "CAD", "aud": "AUD", "nzd": "NZD", "sek": "SEK", "nok": "NOK", "dkk": "DKK",
    "pln": "PLN", "czk": "CZK", "cny": "CNY", "rmb": "CNY", "yuan": "CNY", "brl": "BRL",
    "mxn": "MXN", "zar": "ZAR", "rub": "RUB", "try": "TRY", "krw": "KRW", "sgd": "SGD",
    "hkd": "HKD", "cent": "cent", "cents": "cent", "円": "JPY", "元": "CNY", "원": "KRW",
    "pence": "penny", "kr": "kr",
}  # fmt: skip

PERCENT_WORDS: Final = frozenset(["percent", "pct", "prozent", "procent"])
PER_CENT: Final = frozenset(
    {("per", "cent"), ("pour", "cent"), ("por", "ciento"), ("per", "cento")}
)
