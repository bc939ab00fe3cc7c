"""Records of every kind that belong to one person, with a value in every field."""

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from identity.access.sessions.session import SESSIONS
from identity.administration.personal_data.sections import ByField, ById, ByIds, ByReading, Section
from identity.clients.scim_applications.application import (
    SCIM_APPLICATIONS,
    ScimApplication,
    user_links,
)
from identity.crypto.keys.master_keys import Sealed
from identity.crypto.keys.root_secret import ROOT_SECRETS
from identity.directory.user import User, UserId
from identity.foundation.events.event import EVENTS
from server.platform.call import TenantId
from server.platform.records import RecordStore
from tests.identity.deployment import NOON

DEFAULT = TenantId("default")
SECRET = "never-exported"
# Names of fields whose values are secrets or hashes of them.
_SECRET_WORDS = ("hash", "secret", "csrf", "challenge", "verifier", "recovery", "attempt")


def user(name: str) -> User:
    """Return an account whose every text is about this person."""
    return replace(
        filled(User, name),
        id=f"{name}-id",
        email=f"{name}@example.com",
        preferred_username=name,
        is_enabled=True,
        roles=(),
        groups=(),
        permissions=(),
        valid_until=None,
        expires_at=None,
        tenant_ids=(DEFAULT,),
        attributes={"branch": f'"{name}"'},
    )


async def keep_everything(store: RecordStore, person: User, sections: tuple[Section, ...]) -> None:
    """Store a record of each section that belongs to the person."""
    if not await store.of(SCIM_APPLICATIONS).page(DEFAULT):
        # The provider encrypts secrets anew that are not encrypted under its active key.
        (root,) = await store.of(ROOT_SECRETS).page(TenantId(""))
        token = Sealed(key_id=root.sealed.key_id, content=b"")
        await store.of(SCIM_APPLICATIONS).insert(replace(_application(), bearer_token=token))
    for number, section in enumerate(sections):
        if isinstance(person, section.kind.type):
            continue
        await store.of(section.kind).insert(of_person(section, person, number))


def _application() -> ScimApplication:
    # Nothing is sent to it.
    application = replace(filled(ScimApplication, "shop"), is_enabled=False, next_at=NOON + timedelta(days=1))
    return replace(application, id="shop", links="shop-links", expires_at=None)


def of_person(section: Section, person: User, number: int) -> Any:
    """Return a record of the section that is found by the person."""
    name = person.preferred_username
    # Unlike texts, because some are unique.
    text = f"{name}-{section.name}-{number}"
    record = replace(filled(section.kind.type, text), id=text, expires_at=None)
    user_id = UserId(person.id)
    match section.lookup:
        case ById():
            return replace(record, id=user_id)
        case ByField(field, texts):
            is_session = section.kind is SESSIONS
            whose = ("user_id", "impersonated_id", "impersonator_id") if is_session else ()
            others = {each: f"somebody-{each}" for each in whose}
            return replace(record, **{**others, field: texts(user_id)[0]})
        case ByIds():
            return replace(record, id=f"{user_links(_application())}.{user_id}")
        case ByReading():
            assert section.kind is EVENTS
            return replace(record, user_id=user_id, actor=None)
    raise AssertionError(section)


def filled(kind: type[Any], name: str) -> Any:
    """Return a record whose texts begin with a name, and whose secrets contain SECRET."""
    hints = typing.get_type_hints(kind)
    values = {}
    for each in fields(kind):
        if each.name == "tenant_id":
            values[each.name] = DEFAULT
        elif each.init and each.name != "revision":
            is_secret = not each.repr or any(word in each.name for word in _SECRET_WORDS)
            values[each.name] = _value(hints[each.name], f"{SECRET} {each.name}" if is_secret else name)
    return kind(**values)


def _value(hint: Any, text: str) -> Any:  # noqa: PLR0911  # one for each form of a type
    while isinstance(hint, typing.NewType):
        hint = hint.__supertype__
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _value(next(each for each in arguments if each is not types.NoneType), text)
    if origin in (tuple, list, frozenset):
        if origin is tuple and arguments[-1:] != (Ellipsis,):
            return tuple(_value(each, text) for each in arguments)
        return origin((_value(arguments[0], text),))
    if origin is not None and issubclass(origin, Mapping):
        return {"key": _value(arguments[1], text)}
    if hint is Sealed:
        return Sealed(key_id="key", content=SECRET.encode())
    if is_dataclass(hint):
        return filled(typing.cast("type[Any]", hint), text)
    return _plain(hint, text)


def _plain(hint: Any, text: str) -> Any:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint))
    makers: dict[object, Callable[[], Any]] = {
        str: lambda: text,
        int: lambda: 1,
        bool: lambda: True,
        bytes: text.encode,
        datetime: lambda: NOON,
        timedelta: lambda: timedelta(hours=1),
    }
    assert hint in makers, hint
    return makers[hint]()
