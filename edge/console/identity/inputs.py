"""Inputs of HTML for fields of a request, and the request from a user's answers.

The services check bounds; an input has them as well, so that the browser reports errors before the request.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from edge.console.identity.declarations import Control, Form, FormField
from edge.console.identity.paths import field_at, has_field, put_at, type_of, value_at
from edge.fields import Kind, enum_names, enum_of, kind_of, message_of
from edge.openapi.bounds import refuses_empty, value_bounds
from server.platform.errors import InvalidArgument

# More check boxes are slower to read than a list of names to write.
MAX_BOXES: Final = 100
_LONG_TEXT: Final = 1024
_ATTRIBUTES: Final[Mapping[str, str]] = {
    "minLength": "minlength",
    "maxLength": "maxlength",
    "minimum": "min",
    "maximum": "max",
    "pattern": "pattern",
}
_FITTING: Final[Mapping[Kind, Control]] = {
    Kind.BOOLEAN: Control.CHECK,
    Kind.ENUM: Control.ONE,
    Kind.INTEGER: Control.NUMBER,
}

Answers = tuple[str, ...]
AnswersOf = Callable[[FormField, FieldDescriptor], Answers]
Known = Mapping[FormField, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """`name` is the path in the request. `columns` are the second words of a grid, whose first are the options.

    Options that `has_terms` are named by the contract, and their names are translated.
    """

    name: str
    id: str
    control: Control
    label: str
    hint: str
    is_required: bool
    bounds: Mapping[str, str]
    options: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    answers: Answers
    problem: str = ""
    has_terms: bool = False

    @property
    def answer(self) -> str:
        return self.answers[0] if self.answers else ""


def inputs_of(
    form: str, fields: Sequence[FormField], request: Descriptor, *, known: Known, answers: AnswersOf
) -> list[Input]:
    """Return the inputs of a form, in their order; `known` are the values that people can choose from."""
    return list(_inputs(form, fields, request, known, answers))


def _inputs(
    form: str, fields: Sequence[FormField], request: Descriptor, known: Known, answers: AnswersOf
) -> Iterator[Input]:
    for declared in fields:
        field = field_at(request, declared.path)
        answered = answers(declared, field)
        words = _words(declared, field, known.get(declared, ()), answered)
        control = _control(declared, field, has_words=bool(words))
        yield Input(
            name=declared.path,
            id=f"{form}-{declared.path}",
            control=control,
            label=declared.label,
            hint=declared.hint,
            is_required=declared.is_required or (control is not Control.CHECK and refuses_empty(field)),
            bounds=_bounds(field) if control in _BOUNDED else {},
            options=words,
            columns=_second_words(field) if control is Control.GRID else (),
            answers=answered,
            has_terms=kind_of(field) is Kind.ENUM or bool(declared.words),
        )


_BOUNDED: Final = frozenset({Control.TEXT, Control.SECRET, Control.NUMBER, Control.AREA})


def _control(declared: FormField, field: FieldDescriptor, *, has_words: bool) -> Control:
    if declared.control is not Control.FITTING:
        return declared.control
    kind = kind_of(field)
    if field.is_repeated:
        if kind is Kind.MESSAGE:
            return Control.GRID
        return Control.MANY if has_words else Control.LINES
    if has_words and kind is Kind.STRING:
        return Control.ONE
    return _FITTING.get(kind, Control.TEXT)


def _words(
    declared: FormField, field: FieldDescriptor, known: Sequence[str], answered: Answers
) -> tuple[tuple[str, str], ...]:
    """Return the values and labels of a closed set of words; none when the set is open, or too large for boxes."""
    kind = kind_of(field)
    if kind is Kind.ENUM:
        return tuple((str(number), _readable(name)) for number, name in _numbered(enum_of(field)) if number)
    if kind is Kind.MESSAGE:
        return tuple((word, word) for word in _closed_set(_first_word(field)))
    if declared.words:
        return tuple((word, _readable(word)) for word in declared.words)
    own = _closed_set(field) if kind is Kind.STRING else ()
    words = list(dict.fromkeys((*own, *known)))
    if not words or len(words) > MAX_BOXES:
        return ()
    # A value stays unchanged, even if no list contains it any more.
    words += [each for each in answered if each not in words]
    return tuple((word, word) for word in words if word)


def _numbered(enum: EnumDescriptor) -> Iterator[tuple[int, str]]:
    yield from enum_names(enum).items()


def _readable(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _closed_set(field: FieldDescriptor) -> tuple[str, ...]:
    found = value_bounds(field)
    words = found.get("enum", [found["const"]] if "const" in found else [])
    return tuple(map(str, words)) if isinstance(words, list) else ()


def _first_word(field: FieldDescriptor) -> FieldDescriptor:
    return next(each for each in message_of(field).fields if not each.is_repeated)


def _second_word(field: FieldDescriptor) -> FieldDescriptor:
    return next(each for each in message_of(field).fields if each.is_repeated)


def _second_words(field: FieldDescriptor) -> tuple[str, ...]:
    return _closed_set(_second_word(field))


def _bounds(field: FieldDescriptor) -> dict[str, str]:
    found = {name: value for name, value in value_bounds(field).items() if name in _ATTRIBUTES}
    # In the patterns of HTML a hyphen in a class is written with a backslash.
    return {_ATTRIBUTES[name]: str(value).replace("-]", r"\-]") for name, value in found.items()}


def answers_in(record: Message | None, form: Form) -> AnswersOf:
    """Return what the inputs show of a record; without one they show what a new message has."""

    def answers(declared: FormField, field: FieldDescriptor) -> Answers:
        if record is None:
            return ("yes",) if declared.is_on else ()
        source = _source(declared, form)
        is_known = has_field(type_of(record), source)
        return shown(declared, field, value_at(record, source) if is_known else None)

    return answers


def _source(declared: FormField, form: Form) -> str:
    """Return the path in the record of a field of the request."""
    if declared.source:
        return declared.source
    path = declared.path.removeprefix(f"{form.prefix}.") if form.prefix else declared.path
    return path.removesuffix(".names")


def shown(declared: FormField, field: FieldDescriptor, value: Any) -> Answers:
    if value is None or value == "":
        return ()
    if kind_of(field) is Kind.MESSAGE:
        first, second = _first_word(field).name, _second_word(field).name
        return tuple(f"{getattr(each, first)}:{word}" for each in value for word in getattr(each, second))
    if field.is_repeated:
        return tuple(value)
    if declared.control is Control.MOMENT:
        return (datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%S"),) if value else ()
    if kind_of(field) is Kind.BOOLEAN:
        return ("yes",) if value else ()
    return (str(value),)


def fill(request: Message, fields: Sequence[FormField], inputs: Sequence[Input]) -> None:
    """Put the answers into a request; raises InvalidArgument, which names the field."""
    for declared, each in zip(fields, inputs, strict=True):
        field = field_at(type_of(request), declared.path)
        try:
            put_at(request, declared.path, _value(declared, field, each))
        except (ValueError, TypeError, OverflowError, OSError) as error:
            raise InvalidArgument(
                f"expected {_EXPECTED.get(each.control, 'text')}", field=each.name
            ) from error


_EXPECTED: Final[Mapping[Control, str]] = {
    Control.NUMBER: "a whole number",
    Control.MOMENT: "a day and a time, as in 2026-01-31T12:00",
    Control.ONE: "one of the options",
}


def _value(declared: FormField, field: FieldDescriptor, each: Input) -> Any:
    """Return the value of an answer, None if the request omits it; raises ValueError."""
    is_text = kind_of(field) is Kind.STRING
    text = each.answer if each.control is Control.SECRET else each.answer.strip()
    match each.control:
        case Control.CHECK:
            value: Any = bool(each.answers)
        case Control.LINES | Control.MANY:
            value = [line.strip() for answer in each.answers for line in answer.splitlines() if line.strip()]
        case Control.GRID:
            value = _grid(field, each.answers)
        case _ if not text and (declared.is_left_out or not is_text):
            value = 0 if declared.is_zero else None
        case Control.MOMENT:
            value = int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
        case _:
            value = text.replace("\r\n", "\n") if is_text else _whole_number(text)
    return value


def _whole_number(text: str) -> int:
    if not text.isascii():
        raise ValueError(text)
    return int(text)


def _grid(field: FieldDescriptor, answers: Answers) -> list[dict[str, object]]:
    """Return the messages of a grid: one for each first word that has a second one."""
    chosen: dict[str, list[str]] = {}
    for answer in answers:
        first, _, second = answer.partition(":")
        chosen.setdefault(first, []).append(second)
    return [
        {_first_word(field).name: first, _second_word(field).name: words} for first, words in chosen.items()
    ]


def refused(inputs: Sequence[Input], field: str, problem: str) -> tuple[list[Input], bool]:
    """Return the inputs with the problem at that which it names, and whether one is; names differ by what carries them."""
    named = next((each.name for each in inputs if f".{each.name}".endswith(f".{field}")), "")
    last = field.rpartition(".")[2]
    named = named or next((each.name for each in inputs if last and last in each.name.split(".")), "")
    return [replace(each, problem=problem) if each.name == named else each for each in inputs], bool(named)
