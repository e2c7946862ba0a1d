"""Parse XBRL 2.1 instances and label linkbases with the standard library; documents with a DTD are rejected.

EDGAR extracts an instance (``NAME_htm.xml``) from each inline XBRL report. Unlike ``companyfacts``, the instance has
facts with dimensions, such as segments, products and regions.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, NoReturn
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from fingerpost.contract.wire import simplify_number
from fingerpost.errors import FeedUnusable
from fingerpost.filings.periods import day_number

_XBRLI = "{http://www.xbrl.org/2003/instance}"
_LINK = "{http://www.xbrl.org/2003/linkbase}"
_XBRLDI = "{http://xbrl.org/2006/xbrldi}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# In order of preference. Companies use terse labels in their own tables.
_LABEL_ROLES = ("http://www.xbrl.org/2003/role/terseLabel", "http://www.xbrl.org/2003/role/label")
_LABEL_SUFFIX = re.compile(r"\s*\[(?:Member|Axis|Domain)\]$", re.IGNORECASE)
_STANDARD_PREFIXES = frozenset({"us-gaap", "ifrs-full", "dei", "srt", "country", "stpr", "currency", "exch"})
# Replaces the axis if a segment element is not a dimension, so that the fact does not count as a total.
_NO_DIMENSION = "segment"
_MAX_INTEGER = 2**63

Members = tuple[tuple[str, str], ...]
"""Pairs of axis and member, sorted, such as ``("srt:ProductOrServiceAxis", "aapl:IPhoneMember")``."""


class InstanceFact(NamedTuple):
    """A numeric fact; ``start`` is empty for an instant, and a total has no ``members``."""

    concept: str
    unit: str
    start: str
    end: str
    value: int | float
    members: Members


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """The numeric facts and cover-page data of a report; ``schema`` is the file name of the filer's own schema."""

    cik: int
    name: str
    form: str
    period_end: str
    schema: str
    facts: list[InstanceFact]


class _SafeBuilder(TreeBuilder):
    """Rejects DTDs, which could define entities, and collects namespace prefixes."""

    def __init__(self) -> None:
        super().__init__()
        self.namespaces: dict[str, str] = {}

    def start_ns(self, prefix: str, uri: str) -> None:
        self.namespaces[prefix] = uri

    def doctype(self, name: str, _public_id: str | None, _system_id: str | None) -> NoReturn:
        raise FeedUnusable(f"has a document type declaration ({name}), which XBRL never needs")


def _parse_xml(content: bytes, name: str) -> tuple[Element, Mapping[str, str]]:
    builder = _SafeBuilder()
    parser = XMLParser(target=builder)  # noqa: S314  (the builder rejects DTDs)
    try:
        parser.feed(content)
        return parser.close(), builder.namespaces
    except FeedUnusable as error:
        raise FeedUnusable(f"{name} {error.message}") from error
    except (ParseError, ValueError, LookupError) as error:
        raise FeedUnusable(f"{name} is not well-formed XML: {error}") from error


class _Names:
    """Formats qualified names with a known taxonomy's standard prefix, or else with the filer's prefix."""

    def __init__(self, namespaces: Mapping[str, str]) -> None:
        self._namespaces = namespaces
        self._prefixes = {
            uri: next((segment for segment in uri.split("/") if segment in _STANDARD_PREFIXES), prefix)
            for prefix, uri in namespaces.items()
        }

    def read_tag(self, tag: str) -> str:
        uri, _, local = tag.removeprefix("{").rpartition("}")
        return f"{self._prefixes.get(uri, uri)}:{local}"

    def read_value(self, text: str | None) -> str:
        prefix, _, local = (text or "").strip().rpartition(":")
        return f"{self._prefixes.get(self._namespaces.get(prefix, ''), prefix)}:{local}"


def read_instance(content: bytes, name: str) -> Instance:
    """Parse an instance. For duplicate facts, return only the most precise one."""
    root, namespaces = _parse_xml(content, name)
    if root.tag != f"{_XBRLI}xbrl":
        raise FeedUnusable(f"{name} is not an XBRL instance")
    names = _Names(namespaces)
    try:
        contexts = {node.attrib["id"]: _read_context(node, names) for node in root.iterfind(f"{_XBRLI}context")}
        units = {node.attrib["id"]: _read_unit(node) for node in root.iterfind(f"{_XBRLI}unit")}
        cover = _read_cover(root, names, contexts)
        reference = root.find(f"{_LINK}schemaRef")
        schema = "" if reference is None else reference.attrib[f"{_XLINK}href"].rpartition("/")[2]
        if not schema.endswith(".xsd"):
            raise KeyError("schemaRef")
        day_number(cover["DocumentPeriodEndDate"])
        return Instance(
            cik=int(cover["EntityCentralIndexKey"]),
            name=cover["EntityRegistrantName"],
            form=cover["DocumentType"],
            period_end=cover["DocumentPeriodEndDate"],
            schema=schema,
            facts=_list_facts(root, names, contexts, units),
        )
    except KeyError as error:
        raise FeedUnusable(f"{name} lacks {error}") from error
    except (ValueError, InvalidOperation) as error:
        raise FeedUnusable(f"{name} has an invalid value: {error}") from error


def _read_context(context: Element, names: _Names) -> tuple[str, str, Members]:
    period = {child.tag.removeprefix(_XBRLI): (child.text or "").strip()[:10] for child in context.iter()}
    members = []
    for container in (*context.iter(f"{_XBRLI}segment"), *context.iter(f"{_XBRLI}scenario")):
        for child in container:
            axis = names.read_value(child.get("dimension")) if child.tag.startswith(_XBRLDI) else _NO_DIMENSION
            is_explicit = child.tag == f"{_XBRLDI}explicitMember"
            text = " ".join("".join(child.itertext()).split())
            members.append((axis, names.read_value(text) if is_explicit else text))
    # Facts for the XBRL period "forever" have no dates.
    return period.get("startDate", ""), period.get("endDate") or period.get("instant", ""), tuple(sorted(members))


def _read_unit(unit: Element) -> str:
    def read_measures(parent: Element | None) -> str:
        measures = () if parent is None else parent.iter(f"{_XBRLI}measure")
        return "*".join((measure.text or "").strip().rpartition(":")[2] for measure in measures)

    divide = unit.find(f"{_XBRLI}divide")
    if divide is None:
        return read_measures(unit)
    numerator, denominator = (divide.find(f"{_XBRLI}unit{part}") for part in ("Numerator", "Denominator"))
    return f"{read_measures(numerator)}/{read_measures(denominator)}"


def _list_facts(
    root: Element, names: _Names, contexts: Mapping[str, tuple[str, str, Members]], units: Mapping[str, str]
) -> list[InstanceFact]:
    best: dict[tuple[str, str, str, str, Members], tuple[float, int | float]] = {}
    for element in root:
        unit = element.get("unitRef")
        if unit is None or element.get(_NIL) in ("true", "1"):
            continue
        start, end, members = contexts[element.attrib["contextRef"]]
        value = Decimal((element.text or "").strip())
        if not value.is_finite() or abs(value) >= _MAX_INTEGER:
            raise ValueError(f"{element.tag} is {value}")
        number = int(value) if value == value.to_integral_value() else simplify_number(float(value))
        decimals = element.get("decimals", "INF")
        precision = float("inf") if decimals == "INF" else float(decimals)
        key = (names.read_tag(element.tag), units[unit], start, end, members)
        if end and (key not in best or precision > best[key][0]):
            best[key] = (precision, number)
    return [InstanceFact._make((*columns, number, members)) for (*columns, members), (_, number) in best.items()]


def _read_cover(root: Element, names: _Names, contexts: Mapping[str, tuple[str, str, Members]]) -> dict[str, str]:
    """Return the cover-page facts (``dei:``). If there are several share classes, use the first class."""
    cover: dict[str, str] = {}
    for element in root:
        prefix, _, local = names.read_tag(element.tag).partition(":")
        if prefix == "dei" and element.text:
            is_total = not contexts[element.attrib["contextRef"]][2]
            text = element.text.strip()
            cover[local] = text if is_total else cover.get(local, text)
    return cover


def read_labels(content: bytes, name: str) -> dict[str, str]:
    """Return the English labels in a linkbase, or in a schema that contains one, without suffixes like ``[Member]``."""
    root, _ = _parse_xml(content, name)
    best: dict[str, tuple[int, str]] = {}
    for link in root.iter(f"{_LINK}labelLink"):
        concepts = {
            locator.get(f"{_XLINK}label"): locator.get(f"{_XLINK}href", "").rpartition("#")[2].replace("_", ":", 1)
            for locator in link.iterfind(f"{_LINK}loc")
        }
        arcs = link.iterfind(f"{_LINK}labelArc")
        concept_by_label = {arc.get(f"{_XLINK}to"): concepts.get(arc.get(f"{_XLINK}from")) for arc in arcs}
        for label in link.iterfind(f"{_LINK}label"):
            concept, role = concept_by_label.get(label.get(f"{_XLINK}label")), label.get(f"{_XLINK}role", "")
            if concept and label.text and role in _LABEL_ROLES and label.get(_LANGUAGE, "en").startswith("en"):
                rank = _LABEL_ROLES.index(role)
                if concept not in best or rank < best[concept][0]:
                    best[concept] = rank, _LABEL_SUFFIX.sub("", " ".join(label.text.split()))
    return {concept: label for concept, (_, label) in best.items()}
