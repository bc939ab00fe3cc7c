"""Messages about clients, and fields of the record from them."""

from collections.abc import Collection
from typing import Any, TypeVar

from google.protobuf.message import Message

from identity.access.rpc import records
from identity.clients.fields import (
    OF_AUTHENTICATION,
    RECORD_NAMES,
    SPECIAL,
    RecordFields,
    special_fields,
    special_members,
)
from identity.directory.client import Client

M = TypeVar("M", bound=Message)


def record_fields(message: Message, *, without: Collection[str] = ()) -> RecordFields:
    """Return the fields of the record; raises InvalidArgument for a word that does not exist.

    The id and the members for the client's authentication are left out.
    """
    special = {
        each.name: getattr(message, each.name) for each in message.DESCRIPTOR.fields if each.name in SPECIAL
    }
    others = (*OF_AUTHENTICATION, *SPECIAL, *without)
    return records.fields_of(message, Client, RECORD_NAMES, without=others) | special_fields(special)


def message_of(kind: type[M], client: Client, **others: Any) -> M:
    """Return the message of a client; `others` are fields that differ in meaning from those of its record."""
    known = {field.name for field in kind.DESCRIPTOR.fields}
    special = {member: value for member, value in special_members(client).items() if member in known}
    return records.message_of(kind, client, RECORD_NAMES, **special, **others)
