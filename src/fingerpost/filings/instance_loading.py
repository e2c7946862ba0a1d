"""Load an XBRL instance from disk, with the labels from the file beside it."""

from contextlib import closing
from pathlib import Path

from fingerpost.errors import FeedUnusable, ParameterError
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from fingerpost.filings.xbrl import read_instance, read_labels

_INSTANCE_SUFFIX = "_htm.xml"
_LABELS_SUFFIX = "_lab.xml"


def load_instance(store: FactStore, path: Path, content: bytes, *, accession: str, filed: str) -> str:
    """Store an instance, and return a summary; a loaded list of filings supplies a missing accession number."""
    if path.name.endswith(_LABELS_SUFFIX):
        raise FeedUnusable(f"{path.name} has only labels; load NAME{_INSTANCE_SUFFIX} from the same folder")
    instance = read_instance(content, path.name)
    filing: tuple[str, str, str] | None = (accession, instance.form, filed)
    if not accession or not filed:
        document = f"{path.name.removesuffix(_INSTANCE_SUFFIX)}.htm"
        with closing(FactLibrary(store.path)) as library:
            filing = find_filing(library, instance.cik, document, instance.form, instance.period_end)
    if filing is None:
        raise ParameterError(
            f"{path.name} belongs to no loaded filing; add --accession and --filed",
            hint=f"Or load the submissions file of {instance.name} first",
        )
    schema = path.with_name(instance.schema)
    # Some filers put the labels into the schema.
    beside = [schema.with_name(f"{schema.stem}{_LABELS_SUFFIX}"), schema]
    linkbases = (read_labels(each.read_bytes(), each.name) for each in beside if each.is_file())
    labels = next((each for each in linkbases if each), {})
    count = store.put_instance(instance, labels, accession=filing[0], form=instance.form, filed=filing[2])
    hint = "" if labels else f"; members have no names, because {beside[0].name} is not in the same folder"
    return f"{instance.name}, {instance.form} of {filing[2]}: {count:,} facts with segments{hint}"


def find_filing(
    library: FactLibrary, cik: int, document: str, form: str | None, period_end: str | None
) -> tuple[str, str, str] | None:
    """Return (accession number, form, filing date) of the report with a form and period, or with a document's name.

    Return None unless exactly one report matches. Filers reuse names such as ``form10k.htm``, so the form and period
    take precedence.
    """
    filings = [
        filing
        for filing in library.list_filings_of(cik)
        if not (period_end and filing.report_date) or (filing.form, filing.report_date) == (form, period_end)
    ]
    named = [filing for filing in filings if filing.document == document]
    if matches := named or [filing for filing in filings if period_end and filing.report_date]:
        return (matches[0].accession, matches[0].form, matches[0].filed) if len(matches) == 1 else None
    # Later reports have figures of this period too, and earlier ones may have forecasts.
    rows = library.rows(
        "SELECT accession, form, filed FROM reports WHERE cik = ?1 AND form = ?2 AND filed > ?3 AND id IN"
        " (SELECT report FROM reported WHERE end_date = ?3) ORDER BY filed LIMIT 1",
        cik,
        form,
        period_end,
    )
    return rows[0] if rows else None
