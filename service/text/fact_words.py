"""Words that decide a rule: negations, modal words, comparisons, opposites.

Tables of plain phrases: a line is `value: phrases`, phrases parted by commas. Two phrases of one
line say the same. A `~` before the value makes them weak: taken in or left out they tell
nothing, only put in the place of another one they do. A value in brackets is no fact at all.
Opposites are pairs of words.
"""

from __future__ import annotations

from typing import Final

NEGATION: Final = """
not: not, no, never, none, nobody, nothing, neither, no one, non, no longer, no more, not any
without: without
except: except, except for, excepting, excluding, exclude, excludes, excluded, other than
except: apart from, aside from
except: with the exception of, save for, but not
unless: unless, except if, except when, except where, except as, unless and until, save where
(or): nor, not only, not just, no doubt, whether or not, if not
(up): sign up, signs up, signed up, signing up, set up, sets up, follow up, follows up, back up
"""
# Other languages: a line each, so that the next language is one more line or two.
NEGATION_ELSEWHERE: Final = """
not: nicht, kein, keine, keiner, keinem, keinen, keines, nie, niemals, niemand, nichts
not: keinesfalls, weder
without: ohne
except: außer, ausser, ausgenommen, mit ausnahme von
unless: es sei denn, sofern nicht
not: pas, jamais, aucun, aucune, ni, rien, nul, nulle
~not: ne, n
without: sans
except: sauf, excepté, hormis, à l'exception de, à l exception de
unless: à moins que, à moins de, sauf si
not: nunca, jamás, ningún, ninguno, ninguna, nadie, nada, tampoco
without: sin
except: excepto, salvo, a excepción de
unless: a menos que, a no ser que, salvo que
"""
MODALITY: Final = """
must: must, shall, is required to, are required to, mandatory, obligatory, compulsory
must: is obliged to, are obliged to
~must: has to, have to, need to, needs to, had to
must: required, requires, require
should: should, ought to, is recommended to, are recommended to
recommend: recommended, recommends, recommend, advised, encouraged
may: may, might
can: can, could, is able to, are able to
allow: allowed, permitted, allows, permits, is allowed to, are allowed to, is permitted to
allow: are permitted to
optional: optional, optionally, voluntary, need not
forbid: prohibited, forbidden, banned, disallowed, prohibits, forbids
~will: will, would
must: muss, müssen, verpflichtet, doit, doivent, debe, deben
should: soll, sollen, sollte, sollten, devrait, devraient, debería, deberían
may: darf, dürfen
can: kann, können, peut, peuvent, puede, pueden
"""
COMPARISON: Final = """
at least: at least, no less than, not less than, no fewer than, not fewer than, at minimum
at least: minimum of, at a minimum, a minimum of
at least: or more, or above, or over, or older, and over, and above, and older
minimum: minimum, minimal, min
maximum: maximum, maximal, max
at most: at most, no more than, not more than, maximum of, a maximum of, not exceeding
at most: not to exceed, at a maximum
at most: or less, or fewer, or below, or under, or younger, and under, and below, and younger
more than: more than, greater than, in excess of, exceeding, exceeds, exceed, higher than
more than: longer than, larger than, older than
less than: less than, fewer than, lower than, shorter than, smaller than, younger than
by: no later than, not later than, at the latest
not before: no earlier than, not earlier than, at the earliest, no sooner than
before: before, prior to, ahead of, in advance of, earlier than
after: after, later than
until: until, till, up until
exactly: exactly
only: only, solely, exclusively
"""
# These compare only next to a value; elsewhere they are prepositions.
COMPARISON_BEFORE_A_VALUE: Final = """
within: within, inside of
at most: up to
more than: over, above
less than: under, below
since: since
by: by
~from: from, starting
~to: to, through, thru
~between: between
~about: about, approximately, approx, around, roughly, circa, nearly, almost, some
following: following
"""
OPPOSITES: Final = """
minimum maximum, minimal maximal, min max, include exclude, includes excludes, included excluded
including excluding
inclusive exclusive, enable disable, enabled disabled, enables disables, accept reject
accepted rejected, accepts rejects
allow deny, allowed denied, allow forbid, allowed forbidden, permit prohibit
permitted prohibited, permits prohibits
open closed, opens closes, opened closed, opening closing, start end, starts ends, begins ends
first last, earliest latest
increase decrease, increases decreases, increased decreased, raise lower, raised lowered
higher lower, highest lowest
possible impossible, valid invalid, active inactive, complete incomplete, correct incorrect
accurate inaccurate
eligible ineligible, legal illegal, regular irregular, sufficient insufficient
visible invisible, secure insecure
direct indirect, formal informal, dependent independent, all some, all none, always never
always sometimes, yes no
true false, on off, with without, public private, internal external, inbound outbound
incoming outgoing, paid free
entry exit, arrival departure, left right, front back, north south, east west, upper lower
early late, earlier later
buyer seller, lender borrower, landlord tenant, employer employee, sender recipient
plaintiff defendant, above below
pass fail, passed failed, opt-in opt-out, upload download, import export, encrypt decrypt
refundable non-refundable
more fewer, more less, most least, most fewest, greater less, maximise minimise
maximize minimize, approve reject
approved rejected, like unlike, hot cold, dry wet, morning evening, day night, oral written
add remove, any all
easy difficult, easy hard, simple complicated, likely unlikely, adult child, adults children
temporary permanent, partial full, partially fully, voluntary compulsory
"""
# Words before a number that make it the name of a part, an edition or a record.
LABELS: Final = """
section sections article articles chapter clause paragraph para annex appendix schedule figure
fig table version release form rule regulation directive act part subpart exhibit standard
policy no nr room ticket invoice order case model build revision kapitel artikel absatz
abschnitt chapitre capítulo artículo título sección
"""
