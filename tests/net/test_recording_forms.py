"""A key is taken out of a recording in every way in which its characters may be written."""

import base64

import pytest

from fingerpost.net.recording.cleaning import Cleaner

KEY = "aB3+xY/z9=="
MARKED = "a&b<c>d'e"


def clean(body, *keys, size=10**6):
    cleaner = Cleaner(keys)
    pieces = [cleaner.feed(body[at : at + size]) for at in range(0, len(body), size)]
    return b"".join(pieces) + cleaner.end(), cleaner.problem


@pytest.mark.parametrize("size", [1, 7, 10**6])
@pytest.mark.parametrize(
    ("key", "written"),
    [
        (KEY, rb"aB3\u002BxY/z9=="),
        (KEY, rb"aB3\u002bxY\/z9\u003d\u003D"),
        (KEY, rb"aB3\\u002BxY\\/z9=="),
        (KEY, rb"aB3\x2BxY\x2fz9=="),
        (KEY, b"aB3&#43;xY&#47;z9=="),
        (KEY, b"aB3&#x2B;xY/z9&#x3D;&#X3d;"),
        (KEY, b"aB3&#0043;xY&sol;z9&equals;="),
        (KEY, b"aB3&amp;#43;xY/z9=="),
        (KEY, rb"aB3\u0026#43;xY/z9=="),
        (KEY, b"aB3%2BxY/z9=="),
        (KEY, b"aB3+xY%2fz9%3D="),
        (KEY, b"aB3%252BxY%252Fz9%253D%253D"),
        (KEY, b"aB3%25252BxY/z9"),
        (KEY, b"ab3+xy/z9=="),
        (KEY, b"AB3%2bXY/Z9"),
        (KEY, b"aB3 xY/z9=="),
        (KEY, b"aB3%20xY/z9="),
        (KEY, b"%61B3+xY/z9=="),
        (KEY, rb"\u0061\u0042\u0033+xY/z9=="),
        (KEY, b"&#97;&#x42;3+&#120;&#89;/&#122;9"),
        (KEY, base64.b64encode(KEY.encode())),
        (KEY, base64.urlsafe_b64encode(KEY.encode()).rstrip(b"=")),
        ("a b c", b"a+b%20c"),
        ("a%2Bb/c", b"a+b/c"),
        ("~~??>>", b"fn4_Pz4-"),
        (MARKED, rb"a\u0026b\u003cc\u003ed'e"),
        (MARKED, b"a&amp;b&lt;c&gt;d&apos;e"),
        (MARKED, b"a&amp;b&lt;c&gt;d&#39;e"),
        (MARKED, b"a&b&ltc>d&#x27;e"),
        (MARKED, b"a%26amp%3Bb<c>d'e"),
        ("sch\u00f6n", rb"sch\u00f6n"),
        ("sch\u00f6n", b"sch&ouml;n"),
        ("sch\u00f6n", b"sch%C3%B6n"),
        ("sch\u00f6n", b"sch\xc3\x96n"),
        ("ke\U0001f600y", rb"ke\ud83d\ude00y"),
    ],
)
def test_a_key_is_taken_out_however_it_is_written(key, written, size):
    """Escaped for JSON, HTML or a URL, once or twice, in part or whole, in either case, without its padding."""
    assert clean(b"<q>" + written + b"<q>", key, size=size) == (b"<q>***<q>", None)


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be", "utf-32-le"])
@pytest.mark.parametrize("key", [KEY, "sch\u00f6n-1", "ke\u0142k1"])
def test_a_key_in_utf_16_is_found(key, charset):
    """Such content is no UTF-8 text: it is not kept."""
    body, problem = clean(f"<{key}>".encode(charset), key)

    assert (key.encode(charset) in body, problem is None) == (False, False)


@pytest.mark.parametrize(
    "body", [b"aB3-xY/z9==", b"aB3&#44;xY/z9", b"aB3%2CxY/z9", rb"aB3\u002CxY/z9", b"aB3+xY/z8", b"aB3&#431;xY/z9"]
)
def test_what_differs_in_one_character_is_kept(body):
    """Another character, or another number of one."""
    assert clean(body, KEY) == (body, None)


@pytest.mark.parametrize("size", [1, 3, 10**6])
def test_keys_that_overlap_leave_nothing(size):
    """The end of one is the start of another."""
    assert clean(b"<abcdefgh>", "abcdef", "defgh", size=size) == (b"<***>", None)
