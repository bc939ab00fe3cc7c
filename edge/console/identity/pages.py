"""Handlers of all pages about records: the list of a kind, a new record, one record, and the forms on them.

A form is sent to the address of its page, so a page with a refusal can be reloaded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from itertools import chain
from typing import Any, Final

from aiohttp import web

from edge.console.addresses import address_of
from edge.console.administration import policy_named
from edge.console.identity.declarations import (
    PAGE_SIZE,
    SEARCH,
    Column,
    Form,
    FormField,
    Listing,
    Part,
    Preview,
    RecordKind,
)
from edge.console.identity.forms import (
    Known,
    Refusal,
    ShownForm,
    known_values,
    preview,
    send,
    sentence_of,
    shown_form,
)
from edge.console.identity.inputs import Answers, Input, fill, inputs_of, refused, shown
from edge.console.identity.kinds import KINDS
from edge.console.identity.paths import has_field, listed, put_at, record_in, value_at
from edge.console.identity.tables import LIMIT, Cell, Row, cells_of, chosen, row_of
from edge.console.live_streams import Live
from edge.console.pages.live import live
from edge.console.site import Form as Sent
from edge.console.visit import Visit
from gnomon.identity.v1.screen_service_pb2 import SCREEN_KIND_LOGIN
from server.platform.clock import SystemClock
from server.platform.errors import (
    AlreadyExists,
    InvalidArgument,
    InvalidState,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unavailable,
)

_DEFAULT: Final = "default"
_MAX_ROWS_OF_PART: Final = 50
_MAX_KEY: Final = 256
# Refusals that a form shows, so that the user keeps the answers.
_REFUSED: Final = (
    *(InvalidArgument, InvalidState, NotFound, AlreadyExists, PermissionDenied),
    *(ResourceExhausted, Unavailable),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownPart:
    heading: str
    listing: Listing
    rows: Sequence[Row]
    total: int
    form: ShownForm | None


async def identity(visit: Visit) -> web.Response:
    """Redirect to the first kind of record."""
    return visit.sent_to("identity", next(iter(KINDS)))


async def records(visit: Visit) -> web.Response:
    """The list of a kind, or the one record of the tenant."""
    kind = _kind(visit)
    if kind.listing is None:
        return await _record_page(visit, kind, visit.tenant)
    return await _list_page(visit, kind, kind.listing)


async def change_records(visit: Visit, sent: Sent) -> web.Response:
    """Send a form of a list, of a row in it, or of the one record of the tenant."""
    kind = _kind(visit)
    if kind.listing is None:
        return await _change_record(visit, kind, visit.tenant, sent)
    row_form = (kind.listing.row,) if kind.listing.row else ()
    form, row = _named(sent, (*kind.actions, *row_form)), _checked(sent.get("row", ""))
    try:
        response = await send(visit, form, sent, keys=(row,) if form.keys else ())
    except _REFUSED as error:
        return await _list_page(visit, kind, kind.listing, Refusal(form, row, sent, error))
    return _secret_page(visit, kind, form, response) or visit.sent_to("identity", kind.name, done=form.done)


async def live_events(visit: Visit) -> web.StreamResponse:
    """The position of the latest event, as a stream where the browser asks for one."""

    async def read() -> Live:
        request = visit.administration.request("AwaitEvents")
        request.latest = 1
        found = await visit.administration.send("AwaitEvents", request)
        return {"latest": [each.id for each in found.events], "isFinal": False}

    return await live(visit, read)


async def new_record(visit: Visit) -> web.Response:
    return await _new_page(visit, _kind(visit))


async def create_record(visit: Visit, sent: Sent) -> web.Response:
    kind = _kind(visit)
    form = _created_by(kind)
    try:
        response = await send(visit, form, sent)
    except _REFUSED as error:
        return await _new_page(visit, kind, Refusal(form, "", sent, error))
    key = _key_of_new(kind, response, sent)
    if page := _secret_page(visit, kind, form, response, key):
        return page
    segments = (key,) if key and kind.has_pages else ()
    return visit.sent_to("identity", kind.name, *segments, done=form.done)


async def personal_data(visit: Visit) -> web.StreamResponse:
    """The document with everything that is stored about a user, for a download."""
    asked = visit.administration.request("ExportPersonalData")
    asked.user_id = _checked(visit.key)
    return await visit.personal_data.response(visit.request, asked, await visit.api.metadata())


async def record(visit: Visit) -> web.Response:
    return await _record_page(visit, _kind(visit), _checked(visit.key))


async def change_record(visit: Visit, sent: Sent) -> web.Response:
    return await _change_record(visit, _kind(visit), _checked(visit.key), sent)


async def _change_record(visit: Visit, kind: RecordKind, key: str, sent: Sent) -> web.Response:
    rows = tuple(part.listing.row for part in kind.parts if part.listing.row)
    form, row = _named(sent, (*kind.forms, *rows)), _checked(sent.get("row", ""))
    try:
        found = await _found(visit, kind, key) if form.base is not None else None
        if form.preview is not None and "preview" in sent:
            choice = _choice(form.preview, sent)
            shown = await preview(visit, form, form.preview, sent, choice=choice, key=key, record=found)
            return visit.screen(shown, is_login=choice == SCREEN_KIND_LOGIN)
        response = await send(visit, form, sent, keys=(key, row), record=found)
    except _REFUSED as error:
        return await _record_page(visit, kind, key, Refusal(form, row, sent, error))
    if form.begins_session:
        return visit.acting(response.cookie)
    if page := _secret_page(visit, kind, form, response, key) or _answer_page(
        visit, kind, form, response, key
    ):
        return page
    is_here = kind.listing is not None and not form.is_gone
    changed = record_in(response)
    # The form may change the field that identifies the record.
    if is_here and kind.listing and form in kind.forms and changed is not None:
        key = _key_in(changed, kind.listing) or key
    return visit.sent_to("identity", kind.name, *((key,) if is_here else ()), done=form.done)


async def _list_page(
    visit: Visit, kind: RecordKind, listing: Listing, refusal: Refusal | None = None
) -> web.Response:
    request = visit.administration.request(listing.rpc)
    known = await known_values(visit, (*listing.filters, *chain(*(form.fields for form in kind.actions))))
    filters = _filters(visit, listing, known)
    found: list[Any] = []
    after, problem = "", ""
    try:
        fill(request, listing.filters, filters)
        found, after = await _page_of(visit, listing, request)
    except InvalidArgument as error:
        if refusal is not None:
            raise
        filters, _ = refused(filters, error.metadata.get("field", ""), error.detail)
        problem = error.detail
    asked = {name: visit.query.get(name, "") for name in (SEARCH, "sort", "order")}
    forms = [shown_form(form, None, known, refusal) for form in kind.actions]
    row_form = shown_form(listing.row, None, known, refusal) if listing.row else None
    facts = {
        "kind": kind,
        "kinds": kinds_of(visit),
        "facts": await _status_facts(visit, kind),
        "listing": listing,
        "rows": [row_of(each, listing) for each in found],
        "filters": filters,
        "asked": asked,
        "is_searched": _is_whole(listing),
        "link": _links(visit, kind, filters),
        "sorts": {column.path: _sort_of(listing, column.path) for column in listing.columns},
        "after": after,
        "forms": forms,
        "row_form": row_form,
        "problem": problem or (sentence_of(refusal) if refusal else ""),
    }
    return visit.page("records.html", "identity", status=_status(refusal, problem), **facts)


async def _status_facts(visit: Visit, kind: RecordKind) -> Sequence[tuple[Column, Cell]]:
    if not kind.status:
        return ()
    response = await visit.administration.send(kind.status, visit.administration.request(kind.status))
    cells = cells_of(response, kind.facts)
    return list(zip(kind.facts, cells, strict=True)) if cells[0].text else ()


async def _page_of(visit: Visit, listing: Listing, request: Any) -> tuple[list[Any], str]:
    """Return the records of a page, and where the next one begins."""
    after = visit.query.get("after", "")
    fields = request.DESCRIPTOR.fields_by_name
    if not _is_whole(listing):
        request.page_size = LIMIT
        request.continuation_token = after if after.isascii() else ""
        if "sort" in fields:
            request.sort = visit.query.get("sort", "")
            request.is_descending = visit.query.get("order", "") == "desc"
        response = await visit.administration.send(listing.rpc, request)
        return list(listed(response)), response.continuation_token
    asked = {name: visit.query.get(name, "") for name in (SEARCH, "sort", "order")}
    response = await visit.administration.send(listing.rpc, request)
    found = chosen(listed(response), listing, asked)
    begin = int(after) if after.isascii() and after.isdecimal() and len(after) < len(str(_MAX_OFFSET)) else 0
    return found[begin : begin + LIMIT], str(begin + LIMIT) if len(found) > begin + LIMIT else ""


_MAX_OFFSET: Final = 10_000_000


def _links(visit: Visit, kind: RecordKind, filters: Sequence[Input]) -> Callable[..., str]:
    """Return the function that builds addresses of the list with its filters and further parameters."""
    kept = {each.name: each.answer for each in filters} | {SEARCH: visit.query.get(SEARCH, "")}
    return lambda **query: address_of(visit.tenant, "identity", kind.name, **{**kept, **query})


def _is_whole(listing: Listing) -> bool:
    """Whether the RPC returns all records at once, so that the page searches, sorts and cuts them."""
    return PAGE_SIZE not in policy_named(listing.rpc).descriptor.input_type.fields_by_name


def _sort_of(listing: Listing, path: str) -> str:
    """Return the name of the order by a column in the address, empty if there is none."""
    if _is_whole(listing):
        return path
    return next(column.sort for column in listing.columns if column.path == path)


async def _new_page(visit: Visit, kind: RecordKind, refusal: Refusal | None = None) -> web.Response:
    form = _created_by(kind)
    known = await known_values(visit, form.fields)
    facts = {
        "kind": kind,
        "kinds": kinds_of(visit),
        "form": shown_form(form, None, known, refusal),
        "problem": sentence_of(refusal) if refusal else "",
    }
    return visit.page("new_record.html", "identity", status=_status(refusal), **facts)


async def _record_page(
    visit: Visit, kind: RecordKind, key: str, refusal: Refusal | None = None
) -> web.Response:
    if not kind.has_pages:
        raise NotFound("there is no such page")
    fields = tuple(chain(*(form.fields for form in kind.forms)))
    found, known = await _found(visit, kind, key), await known_values(visit, fields)
    parts = [await _part(visit, part, key, refusal) for part in kind.parts]
    facts = {
        "kind": kind,
        "kinds": kinds_of(visit),
        "key": key,
        "heading": _heading(visit, kind, key, found),
        "facts": list(zip(kind.facts, cells_of(found, kind.facts), strict=True)),
        "forms": [shown_form(form, found, known, refusal) for form in kind.forms],
        "parts_of_record": [part for part in parts if part is not None],
        "problem": sentence_of(refusal) if refusal else "",
    }
    return visit.page("record.html", "identity", status=_status(refusal), **facts)


def _heading(visit: Visit, kind: RecordKind, key: str, record: Any) -> str:
    if kind.heading:
        return str(value_at(record, kind.heading))
    return key if kind.listing else visit.language.translated(kind.title)


async def _found(visit: Visit, kind: RecordKind, key: str) -> Any:
    """Return the record; raises NotFound."""
    if kind.get:
        request = visit.administration.request(kind.get)
        if kind.get_key:
            put_at(request, kind.get_key, key)
        return record_in(await visit.administration.send(kind.get, request))
    listing = kind.listing
    if listing is not None:
        response = await visit.administration.send(listing.rpc, visit.administration.request(listing.rpc))
        for each in listed(response):
            if str(value_at(each, listing.key)) == key:
                return each
    raise NotFound(f"there is no such {kind.noun}")


async def _part(visit: Visit, part: Part, key: str, refusal: Refusal | None) -> _ShownPart | None:
    request = visit.administration.request(part.listing.rpc)
    put_at(request, part.owner, key)
    try:
        found = listed(await visit.administration.send(part.listing.rpc, request))
    except (PermissionDenied, NotFound):
        return None
    form = part.listing.row
    return _ShownPart(
        heading=part.heading,
        listing=part.listing,
        rows=[row_of(each, part.listing) for each in found[:_MAX_ROWS_OF_PART]],
        total=len(found),
        form=shown_form(form, None, {}, refusal) if form else None,
    )


def _secret_page(
    visit: Visit, kind: RecordKind, form: Form, response: Any, key: str = ""
) -> web.Response | None:
    """Return the page that shows a secret once, None without one."""
    secret = getattr(response, form.secret) if form.secret else ""
    if not secret:
        return None
    return visit.page(
        "secret.html",
        "identity",
        kind=kind,
        kinds=kinds_of(visit),
        key=key,
        secret=secret,
        report=form.done,
    )


def _answer_page(visit: Visit, kind: RecordKind, form: Form, response: Any, key: str) -> web.Response | None:
    """Return the page that shows the answer to a form, None for a form that has none."""
    if not form.answer:
        return None
    facts = list(zip(form.answer, cells_of(response, form.answer), strict=True))
    return visit.page(
        "answer.html", "identity", kind=kind, kinds=kinds_of(visit), key=key, form=form, facts=facts
    )


def _filters(visit: Visit, listing: Listing, known: Known) -> list[Input]:
    now = SystemClock().now()

    def answers(declared: FormField, field: Any) -> Answers:
        asked = tuple(each for each in visit.request.query.getall(declared.path, ()) if each)
        if asked or not declared.hours_ago or declared.path in visit.query:
            return asked
        return shown(declared, field, int((now - timedelta(hours=declared.hours_ago)).timestamp()))

    request = policy_named(listing.rpc).descriptor.input_type
    return inputs_of("filter", listing.filters, request, known=known, answers=answers)


def _status(refusal: Refusal | None, problem: str = "") -> int:
    if refusal is not None:
        return refusal.error.problem.status
    return HTTPStatus.BAD_REQUEST.value if problem else HTTPStatus.OK.value


def kinds_of(visit: Visit) -> list[RecordKind]:
    """Return the kinds of the navigation."""
    return [kind for kind in KINDS.values() if visit.tenant == _DEFAULT or not kind.is_of_deployment]


def _kind(visit: Visit) -> RecordKind:
    kind = KINDS.get(visit.request.match_info["kind"])
    if kind is None or kind not in kinds_of(visit):
        raise NotFound("there is no such page")
    return kind


def _created_by(kind: RecordKind) -> Form:
    if kind.create is None:
        raise NotFound("there is no such page")
    return kind.create


def _named(sent: Sent, forms: Sequence[Form]) -> Form:
    found = next((form for form in forms if form.name == sent.get("form", "")), None)
    if found is None:
        raise InvalidArgument(f"expected one of {', '.join(form.name for form in forms)}")
    return found


def _choice(previewed: Preview, sent: Sent) -> int:
    """Return the page that the pressed button asks for."""
    found = next((value for value, _ in previewed.buttons if str(value) == sent["preview"]), None)
    if found is None:
        raise InvalidArgument("expected the value of a button")
    return found


def _checked(key: str) -> str:
    """Return an id that fits into a message; raises NotFound."""
    if len(key) > _MAX_KEY or not key.isprintable():
        raise NotFound("there is nothing with this name")
    return key


def _key_in(record: Any, listing: Listing) -> str:
    """Return the id of a record, empty for one that has none."""
    is_known = listing.key and has_field(record.DESCRIPTOR, listing.key)
    return str(value_at(record, listing.key)) if is_known else ""


def _key_of_new(kind: RecordKind, response: Any, sent: Sent) -> str:
    """Return the id of a new record: the one in the response, or the one that the user chose."""
    if kind.listing is None or not kind.listing.key:
        return ""
    created = record_in(response)
    return str(value_at(created, kind.listing.key)) if created is not None else sent.get(kind.listing.key, "")
