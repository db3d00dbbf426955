"""Words before or after which a number is part of a heading, a date or a record's name."""

import re
from typing import Final

# A number after one of these names a part of the document or a record, not a page.
_BEFORE_WORDS: Final = """
chapter section part article step day volume vol book unit lesson module lecture act scene
appendix annex schedule exhibit attachment figure fig table item question exercise problem
task example level stage phase week month year quarter paragraph clause rule verse psalm
version release revision draft edition issue room floor house building bus line track gate
platform invoice order ticket case record receipt claim file form folio entry row no nr num
number serial id ref reference account customer patient student employee policy contract
permit licence license request project lot batch box sheet slide note circular bulletin
memo memorandum notice resolution directive regulation decree law sample test trial
experiment session round match game episode season class grade group team plot site
kapitel abschnitt teil artikel schritt tag band anlage abbildung tabelle woche monat jahr
chapitre partie étape jour tome annexe tableau semaine mois année numéro
capítulo sección parte artículo paso día tabla semana mes año número
capitolo sezione articolo passo giorno tabella settimana mese anno numero
hoofdstuk deel stap dag bijlage rozdział część krok dzień
глава раздел часть статья шаг день том таблица номер
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday
januar februar märz mai juni juli oktober dezember
janvier février mars avril juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
"""
_AFTER_WORDS: Final = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
januar februar märz mai juni juli oktober dezember
janvier février mars avril juin juillet août septembre octobre novembre décembre
de gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
days weeks months years hours minutes seconds euros dollars pounds percent per am pm
kg g mg km m cm mm l ml °c °f
"""
_BEFORE: Final = frozenset(_BEFORE_WORDS.split())
_AFTER: Final = frozenset(_AFTER_WORDS.split())
_WORD_AT_END = re.compile(r"([^\W\d_]+)[\s.:()\-]*$")
_SIGN_AT_END = re.compile(r"[#№§$€£¥<>=+−±]\s?$")
_WORD_AT_START = re.compile(r"\s?(°?[^\W\d_]+)")
_UNIT_AT_START = re.compile(r"\s?[%‰°$€£¥年月日号]")
_LOOKED_AT = 40


def is_heading_word(line: str) -> bool:
    """Whether a line is nothing but a word such as `Act` or `Chapter`."""
    return line.strip().strip(".:").lower() in _BEFORE


def names_a_part(before: str, after: str) -> bool:
    """Whether a number between these two texts names a part, a date, a record or a quantity."""
    before, after = before[-_LOOKED_AT:], after[:_LOOKED_AT]
    word = _WORD_AT_END.search(before)
    if word and word.group(1).lower() in _BEFORE:
        return True
    following = _WORD_AT_START.match(after)
    if following and following.group(1).lower() in _AFTER:
        return True
    return bool(_SIGN_AT_END.search(before) or _UNIT_AT_START.match(after))
