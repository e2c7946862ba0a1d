"""A source consists of four places, as CONTRIBUTING says: each existing provider has all four."""

from fingerpost.apps.settings import read_settings
from fingerpost.apps.source_kinds import EMBEDDED, REMOTE_KINDS, open_sources
from tests.conformance.suite import ConformingSource
from tests.conformance.test_conformance import SOURCES
from tests.project.sources import ROOT, SRC

REMOTE = sorted(path.parent.name for path in (SRC / "transit" / "remote").glob("*/__init__.py"))
REMOTE.remove("kit")
PROVIDERS = sorted(["embedded", *REMOTE])


def test_every_provider_is_wired(tmp_path):
    sources = open_sources(read_settings(home=tmp_path), fetch=None)

    assert sorted(sources) == sorted([EMBEDDED, "demo", *REMOTE])


def test_every_provider_has_its_conformance_class():
    modules = {source.__module__.rpartition(".")[2] for source in SOURCES if issubclass(source, ConformingSource)}

    assert sorted(modules) == PROVIDERS


def test_every_provider_has_its_page():
    """With the four things that an operator must know; an option of ``network add`` may have a page of its own."""
    pages = {path.stem: path.read_text(encoding="utf-8").lower() for path in (ROOT / "docs" / "providers").glob("*.md")}
    wanted = ("limits", "license", "attribution", "key")
    options = {option.name for kind in REMOTE_KINDS for option in kind.add_options}

    assert sorted(set(pages) - (options - set(PROVIDERS))) == PROVIDERS
    assert {name: word for name, text in pages.items() for word in wanted if word not in text} == {}


def test_contributing_names_places_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## To add a source")[2].partition("\n## ")[0]
    named = [word for word in section.split("`")[1::2] if "/" in word]
    missing = [word for word in named if not ((ROOT / word).exists() or (SRC / word).exists())]

    assert (missing, len(named) > 5) == ([], True)
