"""Words before or after which a number is part of a heading, a date or a record's name."""

import re
from typing import Final

# A number after one of these, or before it ("3. Kapitel"), names a part of the document.
_PART_WORDS: Final = """
chapter section part article step day act scene volume vol appendix annex figure fig table
kapitel abschnitt teil artikel schritt tag szene anhang band anlage abbildung tabelle
chapitre partie étape jour tome annexe tableau acte scène
capítulo sección parte artículo paso día tabla acto escena capitolo sezione articolo passo giorno
tabella atto scena seção artigo etapa dia hoofdstuk deel artikel stap dag bijlage
kapittel avsnitt del steg dag artikkel luku osa vaihe päivä kapitola část článek krok den
rozdział część artykuł dzień fejezet rész cikk lépés nap bölüm kısım madde adım gün
bab bagian pasal langkah hari chương phần điều bước ngày
глава раздел часть статья шаг день том таблица розділ частина стаття крок
κεφάλαιο μέρος άρθρο βήμα ημέρα פרק חלק סעיף צעד יום
الفصل فصل الباب القسم الجزء المادة الخطوة اليوم अध्याय खंड भाग अनुच्छेद चरण दिन
"""
# Months, days of the week and words for "number": a date or a record's name.
_BEFORE_WORDS: Final = """
no nr num number serial id ref reference numéro número numero nummer номер
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
januar februar märz mai juni juli oktober dezember
janvier février mars avril juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
eur usd gbp chf jpy cny inr sek nok dkk pln czk huf rub cad aud
"""
# These name a record or an item where they open the line: `Book 3` is one, `Year Book 3` is a
# title with a page number.
_OPENING_WORDS: Final = """
book unit lesson module lecture schedule exhibit attachment item question answer exercise problem
task example level stage phase week month year hour minute quarter paragraph clause rule verse
psalm version release revision draft edition issue room floor house building bus line track gate
platform invoice order ticket case record receipt claim file form folio entry row account
customer patient student employee policy contract permit licence license request project lot
batch box sheet slide note circular bulletin memo memorandum notice resolution directive
regulation decree law sample test trial experiment session round match game episode season class
grade group team plot site block zone sector district ward dose visit age score total sum amount
recipe tip trick poem hymn song sonnet canto story tale fable letter fact myth reason mistake goal
principle theorem lemma definition proposition corollary interview dialogue player subject
tel phone fax pos sprint milestone idea chant
woche monat jahr semaine mois année semana mes año settimana mese anno
"""
_AFTER_WORDS: Final = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
januar februar märz mai juni juli oktober dezember
janvier février mars avril juin juillet août septembre octobre novembre décembre
de gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
days weeks months years hours minutes seconds euros dollars pounds percent per am pm
kg g mg km m cm mm l ml °c °f eur usd gbp chf jpy cny inr sek nok dkk pln czk huf rub cad aud
"""
_PARTS: Final = frozenset(_PART_WORDS.split())
_BEFORE: Final = _PARTS.union(_BEFORE_WORDS.split())
_OPENING: Final = frozenset(_OPENING_WORDS.split())
_ALONE: Final = _BEFORE | _OPENING
_AFTER: Final = _PARTS.union(_AFTER_WORDS.split())
_WORD_AT_END = re.compile(r"([^\W\d_][\w\u0900-\u097f]*)[\s.:()\-]*$")
_SIGN_AT_END = re.compile(r"[#№§$€£¥<>=+−±]\s?$")
_WORD_AT_START = re.compile(r"[\s.)\-]{0,3}(°?[^\W\d_][\w\u0900-\u097f]*)")
_UNIT_AT_START = re.compile(r"\s?[%‰°$€£¥年月日号]")
# `3 quick tips`, `3. Oil`, `3) Oil`: a phrase or an item of a list.
_PHRASE_OR_ITEM = re.compile(r"\s+[^\W\d_]|[.)]")
_LOOKED_AT = 40


def is_heading_word(line: str) -> bool:
    """Whether a line is nothing but a word such as `Act` or `Chapter`."""
    return line.strip().strip(".:").lower() in _ALONE


def names_a_part(before: str, after: str) -> bool:
    """Whether a number between these two texts names a part, a date, a record or a quantity."""
    before, after = before[-_LOOKED_AT:], after[:_LOOKED_AT]
    word = _WORD_AT_END.search(before)
    if word and word.group(1).lower() in _BEFORE:
        return True
    if word and word.group(1).lower() in _OPENING and not before[: word.start()].strip():
        return True
    if not before and _opens_a_phrase(after):
        return True
    following = _WORD_AT_START.match(after)
    if following and following.group(1).lower() in _AFTER:
        return True
    return bool(_SIGN_AT_END.search(before) or _UNIT_AT_START.match(after))


def _opens_a_phrase(after: str) -> bool:
    """Whether a number at the start of a line counts things or items rather than pages."""
    found = _PHRASE_OR_ITEM.match(after)
    return found is not None and (found.group() in (".", ")") or found.group()[-1].islower())
