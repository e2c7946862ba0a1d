"""Load an XBRL instance from disk, with the labels from the file beside it."""

from contextlib import closing
from pathlib import Path

from fingerpost.errors import FeedUnusable, ParameterError
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from fingerpost.filings.xbrl import Instance, read_instance, read_labels

_INSTANCE_SUFFIX = "_htm.xml"
_LABELS_SUFFIX = "_lab.xml"


def load_instance(store: FactStore, path: Path, content: bytes, *, accession: str, filed: str) -> str:
    """Store an instance, and return a summary; without an accession number, a loaded list of filings gives it."""
    if path.name.endswith(_LABELS_SUFFIX):
        raise FeedUnusable(f"{path.name} has only labels; load NAME{_INSTANCE_SUFFIX} from the same folder")
    instance = read_instance(content, path.name)
    filing: tuple[str, str] | None = (accession, filed)
    if not accession or not filed:
        with closing(FactLibrary(store.path)) as library:
            filing = _find_filing(library, instance, path.name)
    if filing is None:
        raise ParameterError(
            f"{path.name} belongs to no loaded filing; add --accession, --filed",
            hint=f"Or load the submissions file of {instance.name} first",
        )
    schema = path.with_name(instance.schema)
    # Some filers put the labels into the schema.
    beside = [schema.with_name(f"{schema.stem}{_LABELS_SUFFIX}"), schema]
    linkbases = (read_labels(each.read_bytes(), each.name) for each in beside if each.is_file())
    labels = next((each for each in linkbases if each), {})
    count = store.put_instance(instance, labels, accession=filing[0], form=instance.form, filed=filing[1])
    hint = "" if labels else f"; without names, because {beside[0].name} is not beside it"
    return f"{instance.name}, {instance.form} of {filing[1]}: {count:,} facts with segments{hint}"


def _find_filing(library: FactLibrary, instance: Instance, name: str) -> tuple[str, str] | None:
    """Return (accession number, filing day) of a report, by its document, period or figures."""
    document = f"{name.removesuffix(_INSTANCE_SUFFIX)}.htm"
    report = (instance.form, instance.period_end)
    for filing in library.list_filings_of(instance.cik):
        if filing.document == document or (filing.form, filing.report_date) == report:
            return filing.accession, filing.filed
    # A later report has figures of this period too.
    rows = library.rows(
        "SELECT accession, filed FROM reports WHERE cik = ? AND form = ? AND id IN"
        " (SELECT report FROM reported WHERE end_date = ?) ORDER BY filed LIMIT 1",
        instance.cik,
        *report,
    )
    return rows[0] if rows else None
