"""Suggest corrections for a condition that does not compile, from the mistakes that models usually make."""

import re
from collections.abc import Iterator

_REPAIRS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), repair)
    for pattern, repair in (
        (r"\b(\w+)\s+(?:is\s+)?not\s+(?:None|null)\b", r"\1 is not None"),
        (r"\b(\w+)\s+(?:is\s+)?(?:None|null)\b(?!\s+is)", r"\1 is None"),
        (r"\b(\w+)\s+(?:is\s+)?not\s+empty\b", r"len(\1) > 0"),
        (r"\b(\w+)\s+(?:is\s+)?empty\b", r"len(\1) == 0"),
        (r"\b(\w+)\s+(?:does\s+)?exists?\b", r"\1 is not None"),
        (r"\b(?:list|results?)\s+(?:length|size|count)\b", r"len(value)"),
        (r"\b(\w+)\s+(?:length|size|count)\b", r"len(\1)"),
        (r"\b(\w+)\.(?:length|size|count)(?:\(\))?", r"len(\1)"),
        (r"\b(\w+)\.get\(\s*(['\"])(\w+)\2\s*\)", r'\1["\3"]'),
        (r"(?<=[\w\])])\.([A-Za-z_]\w*)(?!\s*\()", r'["\1"]'),
        (r"&&", r" and "),
        (r"\|\|", r" or "),
        (r"!(?!=)", r"not "),
        (r"=>", r">="),
        (r"(?<![=!<>])=(?!=)", r"=="),
        (r"\bnull\b", "None"),
        (r"\btrue\b", "True"),
        (r"\bfalse\b", "False"),
        (r"\b(?:result|output|data|response)\b", "value"),
    )
)


def suggest(text: str) -> Iterator[str]:
    """Yield candidate corrections: each repair alone, then all repairs one after the other."""
    if len(text) > 500:
        return
    for pattern, repair in _REPAIRS:
        if (alone := pattern.sub(repair, text)) != text:
            yield alone
    together = text
    for pattern, repair in _REPAIRS:
        changed = pattern.sub(repair, together)
        if changed != together:
            together = changed
            yield together
