"""Properties of the views' files, without a browser: size, no markup from answers, strings, contrast."""

import json
import re
from itertools import product

import pytest

from fingerpost.apps.views import page
from fingerpost.apps.views.page import VIEWS
from fingerpost.transit.model.line_colors import contrast, parse_color
from tests.project.sources import ROOT, SRC

ASSETS = SRC / "apps" / "views" / "assets"
MODULES = {path.relative_to(ASSETS).as_posix(): path.read_text(encoding="utf-8") for path in ASSETS.rglob("*.js")}
STYLE = (ASSETS / "style.css").read_text(encoding="utf-8")
MAX_BYTES = 300_000
LANGUAGES = ["en", "fi", "sv"]

# What would turn text into markup or code.
MARKUP = re.compile(
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|srcdoc|createContextualFragment|DOMParser|setHTML\w*|eval|Function)\b"
    r"|document\.write|javascript:"
)
MODES = ["bus", "tram", "metro", "rail", "ferry", "other"]
# (foreground, background, least contrast): text by WCAG 1.4.3, lines and edges of what is operated by 1.4.11.
PAIRS = [
    *product(["text", "dim", "danger", "caution", "good", "accent"], ["surface", "raised"], [4.5]),
    *(("on-line", mode, 4.5) for mode in MODES),
    *product([*MODES, "dim", "text"], ["surface", "raised", "water", "road"], [3.0]),
    ("on-accent", "accent", 4.5),
]
COLOURS = {
    name: [parse_color(light), parse_color(dark)]
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", STYLE)
}


def read_strings(module):
    [text] = re.findall(r"export const (?:PAGE_)?STRINGS = (\{.*\});", MODULES[module], re.DOTALL)
    return json.loads(text)


def test_a_view_is_under_300_kilobytes():
    assert [view.name for view in VIEWS if len(page.read_page(view).encode()) >= MAX_BYTES] == []


def test_no_module_can_turn_text_into_markup_or_code():
    assert {name: MARKUP.findall(source) for name, source in MODULES.items() if MARKUP.search(source)} == {}


@pytest.mark.parametrize("view", VIEWS)
def test_modules_in_a_document_do_not_import_export_or_end_the_script(view):
    script = page.join_modules(f"{view.name}.js", "in_host.js")

    assert re.findall(r"^\s*(?:import|export)\b|</script", script, re.MULTILINE | re.IGNORECASE) == []


def test_modules_follow_their_imports_and_appear_once(monkeypatch):
    sources = {
        "a.js": 'import { b } from "./b.js";\nimport { c } from "./c.js";\nb(c);\n',
        "b.js": 'import { c } from "./c.js";\nexport function b() {}\n',
        "c.js": "export const c = 1;\n",
    }
    monkeypatch.setattr(page, "read_asset", sources.__getitem__)

    assert page.join_modules("a.js") == "const c = 1;\nfunction b() {}\nb(c);\n"


@pytest.mark.parametrize("module", ["strings.js", "web/strings.js"])
def test_every_string_is_there_in_three_languages_with_the_same_places(module):
    strings = read_strings(module)
    places = {
        language: {key: sorted(re.findall(r"\{\w+\}", text)) for key, text in of_language.items()}
        for language, of_language in strings.items()
    }

    assert sorted(strings) == LANGUAGES
    assert places["fi"] == places["en"] == places["sv"]
    assert [(language, key) for language in LANGUAGES for key, text in strings[language].items() if not text] == []


@pytest.mark.parametrize("folder", ["", "web/"])
def test_every_string_of_a_module_exists(folder):
    strings = {**read_strings("strings.js")["en"], **(read_strings("web/strings.js")["en"] if folder else {})}
    source = "".join(text for name, text in MODULES.items() if name.rpartition("/")[0] == folder.rstrip("/"))
    said = set(re.findall(r"""\bsay\("(\w+)"[,)]""", source))
    said |= {f"{key}_{form}" for key in re.findall(r"""\bcount\("(\w+)",""", source) for form in ("one", "other")}

    assert said - set(strings) == set()
    assert len(said) > 10


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_have_the_contrast_of_level_aa(theme):
    index = ["light", "dark"].index(theme)
    low = [
        (front, back, round(contrast(COLOURS[front][index], COLOURS[back][index]), 2))
        for front, back, least in PAIRS
        if contrast(COLOURS[front][index], COLOURS[back][index]) < least
    ]

    assert low == []
    assert set(COLOURS) - {"edge"} == {name for front, back, _ in PAIRS for name in (front, back)}


def test_pictures_of_the_documents_are_small():
    pictures = sorted((ROOT / "docs" / "views").glob("*.png"))

    assert [path.stem for path in pictures] == [
        f"{name}-{theme}" for name in sorted([*(view.name for view in VIEWS), "web"]) for theme in ("dark", "light")
    ]
    assert [path.name for path in pictures if path.stat().st_size > 100_000] == []
