"""Forms of pages about records: their content, and the requests that they send."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from edge.console.administration import permissions, policy_named
from edge.console.identity.declarations import PAGE_SIZE, Form, FormField, Preview, Source
from edge.console.identity.inputs import MAX_BOXES, Answers, Input, answers_in, fill, inputs_of, refused
from edge.console.identity.paths import has_field, put_at, value_at, values_at
from edge.console.site import Form as Sent
from edge.console.visit import Visit
from server.platform.errors import NotFound, PermissionDenied, ServiceError

Known = Mapping[FormField, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A form that the service refused, with the user's answers."""

    form: Form
    row: str
    sent: Sent
    error: ServiceError


@dataclass(frozen=True, slots=True)
class ShownForm:
    """A form as its page shows it; `row` is the id of its row."""

    declared: Form
    inputs: Sequence[Input]
    problem: str = ""


async def send(visit: Visit, form: Form, sent: Sent, *, keys: Sequence[str] = (), record: Any = None) -> Any:
    """Call the RPC of a form; raises ServiceError."""
    request = _request(visit, form.rpc, form, sent, keys=keys, record=record)
    return await visit.administration.send(form.rpc, request)


async def preview(
    visit: Visit, form: Form, previewed: Preview, sent: Sent, *, choice: int, key: str, record: Any
) -> Any:
    """Call the RPC of a form's preview; raises ServiceError."""
    request = _request(visit, previewed.rpc, form, sent, keys=(key,), record=record)
    put_at(request, previewed.choice, choice)
    return await visit.administration.send(previewed.rpc, request)


def _request(visit: Visit, rpc: str, form: Form, sent: Sent, *, keys: Sequence[str], record: Any) -> Any:
    request = visit.administration.request(rpc)
    if form.base is not None and record is not None:
        path, source = form.base
        getattr(request, path).CopyFrom(value_at(record, source))
    for path, key in zip(form.keys, keys, strict=False):
        put_at(request, path, key)
    fill(request, form.fields, _inputs(form, {}, sent))
    return request


async def known_values(visit: Visit, fields: Sequence[FormField]) -> Known:
    """Return the values for the user to choose from; a source that the user may not read has none."""
    sources = list(dict.fromkeys(source for field in fields for source in field.sources))
    found = dict(zip(sources, [await _values(visit, source) for source in sources], strict=True))
    return {field: list(chain(*(found[source] for source in field.sources))) for field in fields}


async def _values(visit: Visit, source: Source) -> list[str]:
    if not source.rpc:
        return list(permissions())
    request = visit.administration.request(source.rpc)
    if has_field(request.DESCRIPTOR, PAGE_SIZE):
        # More values are not offered to choose from, but written.
        request.page_size = MAX_BOXES + 1
    try:
        response = await visit.administration.send(source.rpc, request)
    except (PermissionDenied, NotFound):
        return []
    return [str(value) for path in source.paths for value in values_at(response, path)]


def shown_form(form: Form, record: Any, known: Known, refusal: Refusal | None) -> ShownForm:
    if refusal is None or refusal.form is not form:
        request = policy_named(form.rpc).descriptor.input_type
        return ShownForm(
            form, inputs_of(form.name, form.fields, request, known=known, answers=answers_in(record, form))
        )
    inputs = _inputs(form, known, refusal.sent)
    inputs, _ = refused(inputs, _field_of(refusal.error), _words_of(refusal.error))
    return ShownForm(form, inputs, sentence_of(refusal))


def _inputs(form: Form, known: Known, sent: Sent) -> list[Input]:
    """Return the inputs with the user's answers."""

    def answers(declared: FormField, _field: Any) -> Answers:
        return tuple(sent.getall(declared.path, ()))

    request = policy_named(form.rpc).descriptor.input_type
    return inputs_of(form.name, form.fields, request, known=known, answers=answers)


def _field_of(error: ServiceError) -> str:
    """Return the field that a refusal is about, empty without one; its name is in the metadata or before a colon."""
    name, colon, _ = error.detail.partition(": ")
    return error.metadata.get("field", "") or (name.partition("[")[0] if colon and " " not in name else "")


def _words_of(error: ServiceError) -> str:
    """Return the refusal without the contract's name of the field."""
    name, colon, words = error.detail.partition(": ")
    return words if colon and " " not in name else error.detail


def sentence_of(refusal: Refusal) -> str:
    """Return the refusal for the top of the page, with the label of the field."""
    inputs = _inputs(refusal.form, {}, refusal.sent)
    marked, is_marked = refused(inputs, _field_of(refusal.error), "here")
    if not is_marked:
        return refusal.error.detail
    label = next(each.label for each in marked if each.problem)
    return f"{label}: {_words_of(refusal.error)}"
