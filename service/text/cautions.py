"""Lines that read like a warning or a rule, which are never removed everywhere.

A list of words can only be a caution, not a judgement: it errs on the side of keeping one copy.
A collection names further lines with `protect`.
"""

import re
from typing import Final

# Words that signal a warning wherever they stand.
_SIGNALS: Final = (
    "warning", "caution", "danger", "dangerous", "hazard:", "beware", "harmful", "poison",
    "poisonous", "flammable", "toxic", "explosive", "high voltage", "risk of",
    "warnung", "achtung", "vorsicht", "gefahr", "lebensgefahr", "avertissement", "attention",
    "advertencia", "precaución", "peligro", "atención", "aviso", "atenção", "perigo", "cuidado",
    "avvertenza", "avviso", "attenzione", "pericolo", "waarschuwing", "let op", "gevaar",
    "varning", "advarsel", "varoitus", "vaara", "ostrzeżenie", "uwaga",
    "niebezpieczeństwo", "varování", "pozor", "figyelem", "veszély", "dikkat", "uyarı", "tehlike",
    "внимание", "осторожно", "предупреждение", "опасно", "увага", "обережно",
    "προσοχή", "προειδοποίηση", "κίνδυνος",
)  # fmt: skip
# Words of a rule: what must, may not, or only under a condition be done.
_RULES: Final = (
    "must", "mustn't", "shall", "never", "always", "do not", "don't", "may not", "cannot",
    "can't", "not permitted", "not allowed", "not be", "not for", "only", "prohibited",
    "forbidden", "banned", "required", "mandatory", "compulsory", "obligatory", "ensure",
    "make sure", "avoid", "wear", "keep", "before", "until", "unless", "if", "in case of",
    "in an emergency", "no smoking", "no entry", "no access", "no admittance", "out of reach",
    "switch off", "turn off", "disconnect", "unplug", "isolate", "handle with care",
    "seek medical", "evacuate", "stay clear", "stand clear", "wash hands", "wash your", "rinse",
    "lock out", "shut off", "shut down",
    "nicht", "nie", "niemals", "verboten", "muss", "müssen", "darf", "dürfen", "nur",
    "ne pas", "interdit", "défense de", "doit", "doivent", "obligatoire", "jamais",
    "no debe", "prohibido", "debe", "deben", "nunca", "obligatorio", "proibido", "deve",
    "vietato", "niet", "verboden", "moet", "förbjudet", "får inte", "forbudt", "må ikke",
    "zakaz", "nie wolno", "należy", "запрещено", "запрещается", "нельзя", "не", "должен",
    "должны", "никогда", "заборонено", "yasaktır", "yasak",
)  # fmt: skip
# Scripts in which a word boundary does not help.
_ANYWHERE: Final = (
    "警告", "注意", "危険", "危险", "危險", "禁止", "厳禁", "严禁", "嚴禁", "必ず", "必须", "必須",
    "しないで", "てはいけ", "请勿", "請勿", "不得", "切勿", "小心", "当心", "경고", "주의", "위험",
    "금지", "마십시오", "하지 마", "تحذير", "تنبيه", "خطر", "ممنوع", "يجب", "لا ", "هشدار",
    "אזהרה", "זהירות", "סכנה", "אסור", "חובה", "चेतावनी", "सावधान", "खतरा", "ख़तरा", "निषेध",
    "คำเตือน", "ระวัง", "อันตราย", "ห้าม", "ต้อง",
)  # fmt: skip
# Words that only warn at the head of a line, with a mark after them.
_HEADS: Final = "note|notice|important|nota|wichtig|hinweis|remarque|важно|emergency|safety"

_CAUTION = re.compile(
    r"(?<!\w)(?:" + "|".join(map(re.escape, (*_SIGNALS, *_RULES))) + r")(?!\w)"
    r"|" + "|".join(map(re.escape, _ANYWHERE)) + rf"|^\W*(?:{_HEADS})\s*[:!]"
    r"|[⚠☠☢☣⛔🚫🛑]",
    re.IGNORECASE,
)
# Marks of who may read a paper, not rules for what its readers do.
_CLASSIFICATION = re.compile(
    r"(?:internal|official|office|company|personal|business|personnel|training|research) use only",
    re.IGNORECASE,
)
_LONGEST_LOOKED_AT = 2000


def reads_like_a_caution(line: str) -> bool:
    """Whether a line looks like a warning or a rule that readers need at least once."""
    looked_at = line[:_LONGEST_LOOKED_AT].replace("’", "'")
    return _CAUTION.search(_CLASSIFICATION.sub("", looked_at)) is not None
