"""Reads the texts of service alerts: by language, as plain text."""

import re
from collections.abc import Mapping
from html import unescape
from types import MappingProxyType

from google.transit.gtfs_realtime_pb2 import TranslatedString

from fingerpost.transit.engine.gtfs.realtime.messages import plain_text

DEFAULT_LANGUAGE = "default"
# A longer address is no help to a reader.
LONGEST_URL = 300

# Some publishers say the same twice, the second time as HTML under a language such as en-html.
_MARKED_UP = "html"
_BREAK = re.compile(r"<(?:br|/p|/li|/div|/tr|/h[1-6])\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|b|br|div|em|font|h[1-6]|hr|i|img|li|ol|p|small|span|strong|table|tbody|td|th|tr|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)


def read_texts(text: TranslatedString) -> Mapping[str, str]:
    """Return texts by primary language subtag; the first that says anything stands where a language repeats."""
    return MappingProxyType(_by_language(text))


def read_urls(url: TranslatedString) -> Mapping[str, str]:
    """Return web addresses by primary language subtag; what is no web address, or too long, is left out."""
    return MappingProxyType(
        {
            language: address
            for language, address in _by_language(url).items()
            if address.startswith(("https://", "http://")) and len(address) <= LONGEST_URL
        }
    )


def _by_language(text: TranslatedString) -> dict[str, str]:
    plain: dict[str, str] = {}
    marked_up: dict[str, str] = {}
    for translation in text.translation:
        tag = plain_text(translation.language).replace("_", "-").strip().lower()
        language, *subtags = tag.split("-")
        texts = marked_up if _MARKED_UP in subtags else plain
        said = _without_markup(plain_text(translation.text))
        if said:
            texts.setdefault(language.strip() or DEFAULT_LANGUAGE, said)
    return {**plain, **{language: other for language, other in marked_up.items() if language not in plain}}


def _without_markup(text: str) -> str:
    """Return a text without HTML tags and entities; any other angle bracket stays."""
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", text))
    return unescape(text).strip() if "&" in text else text.strip()
