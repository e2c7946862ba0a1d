"""Changing one record in the text of ``fingerpost.toml``: everything else stays, byte for byte.

Only the lines of the record are given to tomlkit, so comments, order and formatting inside it survive as well,
and a mistake elsewhere in the file is nobody's hindrance.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fingerpost.errors import SettingsInvalid
from fingerpost.store.record_text import NETWORKS, Section, is_toml, list_sections, read_document, split_lines

if TYPE_CHECKING:
    from tomlkit.items import Array


def write_table(text: str, name: str, changes: Mapping[str, Any]) -> str:
    """Return the text with these keys of a record changed, None for those that go; a new record comes last.

    Raises:
        SettingsInvalid: the file is written in a way that leaves no place for it.
    """
    document = read_document(text)
    before = document.tables.get(name, {})
    wanted = {key: value for key, value in {**before, **changes}.items() if value is not None}
    lines = split_lines(text)
    own = [section for section in list_sections(lines) if section.name == name]
    if name in document.broken:
        text = _remove_sections(lines, own, keep_comments=True)
        edited = _append(text, name, wanted)
    elif len(own) == 1 and len(own[0].path) == 2:
        edited = _edit_section(lines, own[0], name, changes)
    elif name in document.tables:
        edited = _edit(text, name, changes)
    else:
        edited = _append(text, name, wanted)
    return _verified(text, edited, name, wanted)


def remove_table(text: str, name: str) -> str:
    """Return the text without a record; comments above and below it stay.

    Raises:
        SettingsInvalid: the file is written in a way that does not let it go.
    """
    lines = split_lines(text)
    own = [section for section in list_sections(lines) if section.name == name]
    edited = _remove_sections(lines, own) if own else _edit(text, name, None)
    return _verified(text, edited, name, None)


def _edit_section(lines: list[str], section: Section, name: str, changes: Mapping[str, Any]) -> str:
    last = _end_of_keys(lines, section)
    body = "".join(lines[section.first : last])
    # A key that is put below needs a line of its own.
    body = body if body.endswith("\n") else f"{body}\n"
    return "".join([*lines[: section.first], _edit(body, name, changes), *lines[last:]])


def _edit(text: str, name: str, changes: Mapping[str, Any] | None) -> str:
    """Return a text in which tomlkit has changed a record, or removed it where ``changes`` is None."""
    # Only those who change something wait for its import.
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        networks: Any = document[NETWORKS]
        if changes is None:
            del networks[name]
        else:
            table = networks[name]
            for key, value in changes.items():
                if value is not None:
                    table[key] = _item(value)
                elif key in table:
                    del table[key]
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, ValueError) as error:
        raise _refusal(name) from error


def _append(text: str, name: str, table: Mapping[str, Any]) -> str:
    import tomlkit

    written = tomlkit.table()
    for key, value in table.items():
        written[key] = _item(value)
    whole = tomlkit.document()
    whole[NETWORKS] = tomlkit.table(is_super_table=True).add(name, written)
    if text and not text.endswith("\n"):
        text += "\n"
    gap = "\n" if text.strip() and not text.endswith("\n\n") else ""
    return f"{text}{gap}{tomlkit.dumps(whole)}"


def _item(value: Any) -> Any:
    """Return a value as it is written; a list of several texts has a line for each."""
    import tomlkit

    if isinstance(value, (list, tuple)):
        array: Array = tomlkit.array()
        array.extend(value)
        return array.multiline(len(value) > 1 and isinstance(value[0], str))
    return tomlkit.item(value)


def _remove_sections(lines: list[str], sections: list[Section], *, keep_comments: bool = False) -> str:
    kept: list[str] = []
    at = 0
    for section in sections:
        last = _end_of_keys(lines, section)
        kept += lines[at : section.first]
        if keep_comments:
            kept += [line for line in lines[section.first : last] if line.lstrip().startswith("#")]
        at = last
    return "".join(kept + lines[at:])


def _end_of_keys(lines: list[str], section: Section) -> int:
    """Return the line after a section's last key: comments below it are taken to be about what follows."""
    last = section.last
    while last > section.first + 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    return last


def _verified(before: str, after: str, name: str, wanted: Mapping[str, Any] | None) -> str:
    """Return the edited text if it says of this record what it shall say, and of all others what it said before."""
    old, new = read_document(before), read_document(after)
    old.tables.pop(name, None)
    now = new.tables.pop(name, None)
    others_stay = old.tables == new.tables and old.broken.keys() - {name} == new.broken.keys()
    others_stay = others_stay and (is_toml(after) or not is_toml(before))
    if not others_stay or now != (None if wanted is None else _plain(wanted)) or len(old.rest) != len(new.rest):
        raise _refusal(name)
    return after


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in table.items()}


def _refusal(name: str) -> SettingsInvalid:
    return SettingsInvalid(
        f"The record of {name} cannot be changed here, because of the way the file is written. "
        f"Edit it by hand, or give the record a table of its own: [networks.{name}]."
    )
