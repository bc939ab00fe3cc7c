"""Export of everything that is stored about one person, page by page.

A page has a bound in records, in octets and in records read, so that a person with many events delays nobody else. The
position names a section and the last record read in it. Hashes, secrets and what belongs to other people are left out.
"""

import re
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, assert_never

import msgspec

from identity.access.callers import Actor
from identity.access.sessions.sessions import impersonated
from identity.administration.personal_data.sections import (
    ByField,
    ById,
    ByIds,
    ByReading,
    Section,
)
from identity.crypto.keys.master_keys import Sealed
from identity.directory.user import USERS, User, UserId
from identity.foundation.continuation import id_of, token_of
from identity.foundation.events.event import Event
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound
from server.platform.query import Condition, Field, FieldType, Operator, Query, SortKey, Window
from server.platform.records import Record, RecordStore

MOST_RECORDS = 500
MOST_OCTETS = 1 << 20
MOST_READ = 5000

_IDS = 1000

_APART = ":"
_AT = "@"
_ID = Field("id", FieldType.TEXT)
_PAGE = 500
# Fields of every record that describe its storage.
_OF_STORE = frozenset({"tenant_id", "revision"})


@dataclass(frozen=True, slots=True)
class ExportedRecord:
    """A record of the section; `content` is a JSON object."""

    section: str
    content: str


@dataclass(frozen=True, slots=True)
class ExportedPage:
    records: Sequence[ExportedRecord]
    exported_at: datetime
    continuation_token: str


@dataclass(slots=True)
class _Room:
    """The remaining room of a page."""

    records: list[ExportedRecord] = field(default_factory=list)
    octets: int = MOST_OCTETS
    unread: int = MOST_READ

    @property
    def is_used_up(self) -> bool:
        return len(self.records) >= MOST_RECORDS or self.octets <= 0 or self.unread <= 0

    def admits(self, exported: ExportedRecord) -> bool:
        """Add a record, unless it has to wait for the next page; one record always fits."""
        size = len(exported.content.encode())
        if self.records and (size > self.octets or len(self.records) >= MOST_RECORDS):
            return False
        self.records.append(exported)
        self.octets -= size
        return True


class PersonalDataExport:
    def __init__(
        self, store: RecordStore, sections: Sequence[Section], *, events: Events, clock: Clock
    ) -> None:
        self._store = store
        self._sections = sections
        self._users = store.of(USERS)
        self._events = events
        self._clock = clock

    async def page(
        self, tenant: Tenant, user_id: UserId, *, continuation_token: str, actor: Actor
    ) -> ExportedPage:
        """Return the next records; the first page emits an event.

        Raises NotFound, InvalidArgument, and PermissionDenied for a support person who acts as the user.
        """
        if actor.is_impersonated:
            raise impersonated()
        user = await self._users.get(tenant.tenant_id, user_id)
        if user is None:
            raise NotFound("there is no such user")
        first, after = _position(continuation_token, len(self._sections))
        if not continuation_token:
            await self._tell(user, actor)
        room = _Room()
        for number, section in islice(enumerate(self._sections), first, None):
            end = await self._fill(room, section, user, after)
            if end is not None:
                token = token_of(f"{number}{_APART}{end}")
                return ExportedPage(room.records, self._clock.now(), token)
            after = ""
        return ExportedPage(room.records, self._clock.now(), "")

    async def _fill(self, room: _Room, section: Section, user: User, after: str) -> str | None:
        """Add records of a section; return the position at which the page ends, None when the section is complete."""
        while not room.is_used_up:
            most = min(_PAGE, room.unread)
            page = await self._read(section, user, after, most)
            for record in page:
                own = _own(record, user)
                if own is not None and not room.admits(ExportedRecord(section.name, _written(own, section))):
                    return after
                room.unread -= 1
                after = record.id
            if len(page) < most:
                return None
        return after

    async def _read(self, section: Section, user: User, after: str, most: int) -> Sequence[Record]:
        """Return the next records after an id, fewer than `most` only at the end."""
        records = self._store.of(section.kind)
        tenant_id = user.tenant_id
        match section.lookup:
            case ById():
                found = await records.get(tenant_id, user.id) if after < user.id else None
                return () if found is None else (found,)
            case ByField(name, texts):
                named = Condition(Field(name, FieldType.TEXT), Operator.IN, texts(user.user_id))
                query = Query(
                    (named,), (SortKey(_ID),), Window(limit=most, after=(after,) if after else None)
                )
                return await records.matches(tenant_id, query)
            case ByIds(ids_of):
                ids = await ids_of(self._store, tenant_id, user.user_id)
                later, read = sorted(each for each in ids if each > after), list[Record]()
                for first in range(0, len(later), _IDS):
                    read += await records.find_any(tenant_id, "id", later[first : first + _IDS])
                    if len(read) >= most:
                        break
                return read[:most]
            case ByReading():
                return await records.page(tenant_id, after=after, most=most)
            case _:
                assert_never(section.lookup)

    async def _tell(self, user: User, actor: Actor) -> None:
        await self._events.emit(
            user.tenant_id,
            EventType.CREATED,
            level=Level.NOTICE,
            ip=actor.peer_address or None,
            text="export of personal data",
            user_id=user.id,
            actor=actor,
        )


def _position(token: str, sections: int) -> tuple[int, str]:
    """Raises InvalidArgument for a text that is not a continuation token."""
    if not token:
        return 0, ""
    number, apart, after = id_of(token).partition(_APART)
    if not apart or number not in map(str, range(sections)):
        raise InvalidArgument("continuation_token: expected that of a previous page")
    return int(number), after


def _own(record: Record, user: User) -> Record | None:
    """Return the part of a record that is about the user: of events without other people, None for those of others."""
    if not isinstance(record, Event):
        return record
    if not names_person_in(record, user.names):
        return None
    if record.actor is not None and record.actor.id != user.id:
        # The network address is that of the actor.
        record = replace(record, actor=None, ip=None)
    if record.user_id not in (None, user.id):
        record = replace(record, user_id=None, session=None, text=None)
    return record


def names_person_in(event: Event, names: Sequence[str]) -> bool:
    """Whether an event is about a person, was caused by the person, or has the person's address in its text."""
    if names[0] in (event.user_id, None if event.actor is None else event.actor.id):
        return True
    text = event.text or ""
    return any(pattern_of(name).search(text) is not None for name in names if _AT in name)


def pattern_of(text: str) -> re.Pattern[str]:
    """Return the pattern of a text that is not a part of a longer address or name."""
    return re.compile(rf"(?<![\w.+-]){re.escape(text)}(?![\w+-]|\.\w)", re.IGNORECASE)


def _written(record: Record, section: Section) -> str:
    shown = _shown(replace(record, revision=0), section.hidden | _OF_STORE, section.shown)
    return msgspec.json.encode(shown).decode()


def _shown(value: Any, hidden: Collection[str], anyway: Collection[str]) -> Any:
    """Return a value as JSON has it, without the fields that are not exported."""
    show = partial(_shown, hidden=hidden, anyway=anyway)
    if is_dataclass(value):
        return {
            each.name: show(part)
            for each in fields(value)
            if (each.repr or each.name in anyway) and each.name not in hidden
            if not isinstance(part := getattr(value, each.name), Sealed)
        }
    if isinstance(value, Mapping):
        return {str(key): show(part) for key, part in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [show(part) for part in value]
    return b64encode(value).decode() if isinstance(value, bytes) else value
