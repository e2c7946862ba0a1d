"""Describe a validation error of a tool's arguments in one sentence.

Pydantic says what is wrong and where; here that becomes a path in the wire's names and a plain sentence.
"""

import json
import types
from collections.abc import Callable, Mapping, Sized
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic_core import ErrorDetails
from typing_extensions import TypeAliasType

from fingerpost.contract.wire import Shape, fields_of

_SHOWN_CHARACTERS = 80

_MISSING = ("missing", "blank")


class Problem(NamedTuple):
    """One validation error: the field's path, and the sentence."""

    path: str
    sentence: str


def describe_problem(
    error: ErrorDetails, shape: Shape | None = None, when_missing: Mapping[str, str] | None = None
) -> Problem:
    """Return one pydantic complaint as a problem.

    ``shape`` gives the names that are allowed where a field is unknown, and keeps union tags out of the path.
    ``when_missing`` holds a contract's own sentence for a path that is missing or blank.
    """
    location = list(error["loc"])
    path, owners = _walk(shape, location)
    kind = error["type"]
    if kind in _MISSING and when_missing and path in when_missing:
        return Problem(path, when_missing[path])
    if kind == "extra_forbidden":
        allowed = sorted({name for owner in owners for name in fields_of(owner)})
        listed = f"; allowed: {', '.join(allowed)}" if allowed else ""
        return Problem(path, f"unknown field '{path}'{listed}")
    write_sentence = _SENTENCES.get(kind, _format_other_problem)
    return Problem(path, write_sentence(path or "the arguments", error["input"], error.get("ctx", {}), error["msg"]))


def show(value: Any) -> str:
    """Return a value as it may be shown to the caller: as JSON where it is JSON, clipped."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        text = _format_int(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return _clip(text)


def _format_int(value: int) -> str:
    # Python refuses to print integers of thousands of digits.
    return json.dumps(value) if value.bit_length() < 4 * _SHOWN_CHARACTERS else "a very large number"


def _clip(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _kind_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return show(value)
        case int() | float():
            return f"the number {show(value)}"
        case str():
            return f"the text {show(value)}"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
    return f"a {type(value).__name__}"


_SentenceWriter = Callable[[str, Any, Mapping[str, Any], str], str]


def _format_other_problem(path: str, _value: Any, _context: Mapping[str, Any], message: str) -> str:
    return f"{path}: {_clip(message[:1].lower() + message[1:])}"


def _must_be(what: str) -> _SentenceWriter:
    return lambda path, value, _context, _message: f"{path} must be {what}, not {_kind_of(value)}"


def _bound(words: str, key: str) -> _SentenceWriter:
    return lambda path, value, context, _message: f"{path} must be {words} {show(context[key])}; you sent {show(value)}"


def _format_size(words: str, key: str, *, is_text: bool = False) -> _SentenceWriter:
    """Word a length: characters of a text, entries of a list."""

    def write_sentence(path: str, value: Any, context: Mapping[str, Any], _message: str) -> str:
        if key == "min_length" and context[key] == 1:
            return f"{path} must not be empty"
        units = ("character", "characters") if is_text or isinstance(value, str | float) else ("entry", "entries")
        unit = units[context[key] != 1]
        # A number that is read as text has a length only then.
        sent = f"; you sent {len(value)}" if isinstance(value, Sized) else ""
        return f"{path} must have {words} {context[key]} {unit}{sent}"

    return write_sentence


def _format_choice(path: str, value: Any, context: Mapping[str, Any], _message: str) -> str:
    return f"{path} must be {context['expected']}; you sent {show(value)}"


def _format_tag(path: str, _value: Any, context: Mapping[str, Any], _message: str) -> str:
    field = f"{path}.{str(context['discriminator']).strip(chr(39))}"
    return f"{field} must be one of {context['expected_tags']}; you sent {show(context['tag'])}"


def _format_no_tag(path: str, _value: Any, context: Mapping[str, Any], _message: str) -> str:
    return f"{path}.{str(context['discriminator']).strip(chr(39))} is missing"


def _format_own_sentence(path: str, _value: Any, context: Mapping[str, Any], message: str) -> str:
    # A validator of ours wrote a whole sentence; at the root it stands as it is.
    text = str(context["error"]) if "error" in context else message
    return text if path == "the arguments" else f"{path}: {text}"


_SENTENCES: dict[str, _SentenceWriter] = {
    "missing": lambda path, *_: f"{path} is missing",
    "whole_sentence": lambda _path, _value, _context, message: message,
    "blank": lambda path, *_: f"{path} must not be empty",
    **dict.fromkeys(("whole_number", "int_type", "int_from_float", "int_parsing"), _must_be("a whole number")),
    **dict.fromkeys(("float_type", "float_parsing"), _must_be("a number")),
    "finite_number": _must_be("a finite number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), _must_be("true or false")),
    **dict.fromkeys(("string_type", "identifier"), _must_be("text")),
    **dict.fromkeys(("list_type", "tuple_type"), _must_be("a list")),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), _must_be("an object")),
    "string_unicode": lambda path, *_: f"{path} holds characters that are not valid Unicode",
    "greater_than_equal": _bound("at least", "ge"),
    "less_than_equal": _bound("at most", "le"),
    "greater_than": _bound("more than", "gt"),
    "less_than": _bound("less than", "lt"),
    "string_too_short": _format_size("at least", "min_length", is_text=True),
    "string_too_long": _format_size("at most", "max_length", is_text=True),
    "string_pattern_mismatch": lambda path, value, context, _message: (
        f"{path} must match {context['pattern']}; you sent {show(value)}"
    ),
    "too_short": _format_size("at least", "min_length"),
    "too_long": _format_size("at most", "max_length"),
    "literal_error": _format_choice,
    "enum": _format_choice,
    "union_tag_invalid": _format_tag,
    "union_tag_not_found": _format_no_tag,
    "value_error": _format_own_sentence,
}


def _walk(shape: Shape | None, location: list[int | str]) -> tuple[str, list[Shape]]:
    """Return the dotted path of a location, union tags left out, and the shapes that own its last part."""
    path = ""
    here: list[Any] = [] if shape is None else [shape]
    owners: list[Shape] = []
    for part in location:
        here = _members(here)
        if isinstance(part, str) and len(here) > 1:
            # A union: pydantic names the branch before it goes on.
            here = [branch for branch in here if _answers_to(branch, part)]
            continue
        owners = [branch for branch in here if fields_of(branch)]
        here = [inner for branch in here if (inner := _inside(branch, part)) is not None]
        path += f"[{part}]" if isinstance(part, int) else f"{'.' if path else ''}{_clip(part)}"
    return path, owners


def _members(annotations: list[Any]) -> list[Any]:
    found: list[Any] = []
    for annotation in annotations:
        if get_origin(annotation) in (Union, types.UnionType):
            found += _members([member for member in get_args(annotation) if member is not types.NoneType])
        elif get_origin(annotation) is Annotated:
            found += _members([get_args(annotation)[0]])
        elif isinstance(annotation, TypeAliasType):
            found += _members([annotation.__value__])
        else:
            found.append(annotation)
    return found


def _answers_to(branch: Any, tag: str) -> bool:
    return getattr(branch, "__name__", "") == tag or any(
        tag in get_args(annotation) for annotation in fields_of(branch).values() if get_origin(annotation) is Literal
    )


def _inside(annotation: Any, part: int | str) -> Any:
    fields = fields_of(annotation)
    if fields:
        return fields.get(str(part))
    arguments = get_args(annotation)
    return arguments[0 if isinstance(part, int) else -1] if arguments else None
