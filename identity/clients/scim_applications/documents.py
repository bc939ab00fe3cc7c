"""Users and groups as SCIM resources of an application: RFC 7643 §4.1 and §4.2."""

import hashlib
from collections.abc import Mapping

import msgspec

from identity.directory.labels import Group
from identity.directory.user import User
from identity.people.provisioning.attributes import GROUP_SCHEMA, USER_SCHEMA
from identity.people.provisioning.user_documents import written

Document = Mapping[str, object]

# Attributes of a user that applications get; others stay with the provider.
_ATTRIBUTES = ("userName", "name", "displayName", "preferredLanguage")


def user_document(user: User, subject: str, *, is_active: bool) -> Document:
    """Return the resource of a user; `subject` is the user's `sub` at the client."""
    own = written(user)
    return {
        "schemas": [USER_SCHEMA],
        "externalId": subject,
        **{name: own[name] for name in _ATTRIBUTES if name in own},
        "active": is_active,
        "emails": [{"value": user.email, "type": "work", "primary": True}],
    }


def group_document(group: Group) -> Document:
    """Return the resource of a group without its members, which are added by changes."""
    return {"schemas": [GROUP_SCHEMA], "externalId": group.id, "displayName": group.shown_name}


def digest_of(document: Document) -> str:
    return hashlib.sha256(msgspec.json.encode(document)).hexdigest()
