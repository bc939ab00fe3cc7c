"""Terms for the declaration of a page about a kind of record.

Paths are names of fields with dots between them, as in `fields.user_values.phone`. Labels are for people; everything
else about a field is read from the contract.
"""

from dataclasses import dataclass, replace
from enum import StrEnum, auto
from typing import Final, Self

# Requests of RPCs have these fields for the page itself.
PAGE_SIZE: Final = "page_size"
SEARCH: Final = "search"


class Show(StrEnum):
    """How the page shows a value of a message; WHOLE follows its type in the contract."""

    WHOLE = auto()
    CODE = auto()
    SECONDS = auto()
    MILLISECONDS = auto()


class Control(StrEnum):
    """Input of a value. FITTING follows the contract."""

    FITTING = auto()
    TEXT = "text"
    COLOR = "color"
    SECRET = "password"  # noqa: S105  # type of an input
    NUMBER = "number"
    CHECK = "check"
    MOMENT = "datetime-local"
    AREA = "area"
    # One value of a repeated field in each line.
    LINES = "lines"
    ONE = "one"
    MANY = "many"
    # Each message of a repeated field has a word, and some of a second set of words.
    GRID = "grid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Values for the user to choose from: those at the paths in the response of an RPC.

    Without an RPC they are the permissions of the contract.
    """

    rpc: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A value of a record. `kind` is the kind of the named record, `sort` the name of the order in the RPC."""

    path: str
    label: str
    show: Show = Show.WHOLE
    kind: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a request. `source` is the path of its present value in the record, if that is another one.

    `sources` are known values of it. An empty text is left out of the request where `is_left_out`; an empty number or
    time is, unless it `is_zero`. `words` are all values of a text whose contract lists none. `hours_ago` is how far a
    time in a filter lies behind at first, and a box that `is_on` is checked in a form for a new record.
    """

    path: str
    label: str
    hint: str = ""
    control: Control = Control.FITTING
    source: str = ""
    sources: tuple[Source, ...] = ()
    words: tuple[str, ...] = ()
    is_required: bool = False
    is_left_out: bool = False
    is_zero: bool = False
    hours_ago: int = 0
    is_on: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """An RPC that shows what the fields of a form would do, and stores nothing.

    `choice` is the field of the request with the page to show, and `buttons` are its values with their labels.
    """

    rpc: str
    choice: str
    buttons: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A change by one RPC. Without fields it is a button, and with `warning` the person confirms it first.

    `keys` are the fields of the request with the ids of the record, or of the record and a row in it. `prefix` is the
    field that carries the record's fields under their own names. An RPC that replaces a record whole has a `base`: the
    field of the request, and the path in the record of its present value, of which the form changes its own fields.
    `secret` is the field of the response with what is shown once, and `answer` are values of the response that a page of
    their own shows. The buttons of a `preview` send the fields as well. The person stays on the page
    unless the record `is_gone`. The response of a form that `begins_session` has the cookie of another session of the
    browser, in which the person goes on at the account page.
    """

    name: str
    rpc: str
    button: str
    done: str
    fields: tuple[FormField, ...] = ()
    keys: tuple[str, ...] = ()
    prefix: str = ""
    base: tuple[str, str] | None = None
    heading: str = ""
    warning: str = ""
    secret: str = ""
    answer: tuple[Column, ...] = ()
    preview: Preview | None = None
    is_gone: bool = False
    begins_session: bool = False

    def with_fields(self, *first: FormField) -> Self:
        """Return the form with further fields before its own."""
        return replace(self, fields=(*first, *self.fields))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list by one RPC, whose response has one repeated field of messages. `key` is the path of the id of a row.

    A list that `is_live` is renewed while it is shown.
    """

    rpc: str
    columns: tuple[Column, ...]
    empty: str
    key: str = ""
    filters: tuple[FormField, ...] = ()
    row: Form | None = None
    is_live: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A list of what belongs to a record; `owner` is the field of the request with the id of the record."""

    heading: str
    owner: str
    listing: Listing


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind:
    """Records of one kind: the list of them, the page of each, and their forms.

    Without `listing` there is one record, that of the tenant. `get` reads a record, whose id goes to `get_key`; without
    it the record is looked for in the list. `actions` are forms of the whole list. `download` is the label of the link to
    the record's personal data. `is_of_deployment` says that only administrators of the default tenant have it. Where
    records have no pages, `facts` of the RPC `status` stand above the list, if the first of them has a value.
    """

    name: str
    title: str
    noun: str
    about: str = ""
    listing: Listing | None = None
    get: str = ""
    get_key: str = ""
    status: str = ""
    heading: str = ""
    facts: tuple[Column, ...] = ()
    create: Form | None = None
    forms: tuple[Form, ...] = ()
    parts: tuple[Part, ...] = ()
    actions: tuple[Form, ...] = ()
    download: str = ""
    is_of_deployment: bool = False

    @property
    def has_pages(self) -> bool:
        """Whether each record has a page."""
        return bool(self.forms or self.parts)
