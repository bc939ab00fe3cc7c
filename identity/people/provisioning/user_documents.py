"""Users as SCIM resources, and the changes of a user by a resource: RFC 7643 §4.1.

The account has one e-mail address, one language, a given name and a family name. A resource also stores the other input
of the client: other addresses, other parts of the name and attributes that the provider does not use. When a user
or an administrator changes the account, the account's value replaces the client's.
"""

import unicodedata
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

import msgspec

from identity.directory.labels import Group
from identity.directory.user import Provisioned, User
from identity.foundation.mail_address import email_key
from identity.foundation.visible_text import visible_name
from identity.people import names
from identity.people.provisioning.attributes import ENTERPRISE_SCHEMA, USER_SCHEMA
from identity.people.provisioning.documents import Members, text, texts
from identity.people.provisioning.refusals import ScimType, refusal
from identity.people.user_changes import UserChange
from server.platform.errors import InvalidArgument

MOST_OF_NAMES = 256
MOST_OF_DOCUMENT = 16_384

_ONCE_KEPT = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Zs"})
_MOST_ONCE_KEPT = 64

_KEPT = (
    *("name", "nickName", "profileUrl", "title", "userType", "locale", "timezone"),
    *("emails", "phoneNumbers", "addresses", ENTERPRISE_SCHEMA),
)


def written(user: User) -> Members:
    """Return the attributes of a user that a client may write, with the present values."""
    provisioned = user.provisioned or Provisioned()
    kept = _kept(provisioned)
    members: Members = {"userName": provisioned.user_name or user.preferred_username or user.email}
    if provisioned.external_id:
        members["externalId"] = provisioned.external_id
    if name := _name(kept, user):
        members["name"] = name
    if user.display_name:
        members["displayName"] = user.display_name
    members["preferredLanguage"] = user.language
    members["active"] = user.is_enabled
    members["emails"] = _emails(texts(kept.get("emails")), user.email)
    members.update({name: value for name, value in kept.items() if name not in members})
    return members


def resource(user: User, groups: Mapping[str, Group], base: str) -> Members:
    """Return the whole resource; `groups` are those of the tenant by name, `base` is the address of the server."""
    members = written(user)
    schemas = [USER_SCHEMA, *([ENTERPRISE_SCHEMA] if ENTERPRISE_SCHEMA in members else [])]
    own = [
        {
            "value": group.id,
            "$ref": f"{base}/Groups/{group.id}",
            "display": group.shown_name,
            "type": "direct",
        }
        for name in user.groups
        if (group := groups.get(name)) is not None
    ]
    meta = {
        "resourceType": "User",
        **times(user.created_at, user.last_modified_at),
        "location": location(user.id, base),
        "version": version_of(user),
    }
    return {"schemas": schemas, "id": user.id, **members, **({"groups": own} if own else {}), "meta": meta}


def location(user_id: str, base: str) -> str:
    return f"{base}/Users/{user_id}"


def version_of(user: User) -> str:
    """Return the entity tag, a weak one: RFC 7644 §3.14."""
    return f'W/"{user.revision}"'


def times(created: datetime | None, modified: datetime | None) -> Members:
    named = (("created", created), ("lastModified", modified or created))
    return {name: f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z" for name, at in named if at is not None}


def change_of(members: Members, before: User | None) -> UserChange:
    """Return the change of the account to the values of a resource; raises InvalidArgument."""
    user_name, email = text(members, "userName").strip(), _main_email(members, before)
    if not user_name:
        raise refusal(ScimType.INVALID_VALUE, "userName: expected a name")
    for attribute in ("userName", "externalId", "displayName"):
        if len(text(members, attribute)) > MOST_OF_NAMES:
            raise refusal(ScimType.INVALID_VALUE, f"{attribute}: expected at most {MOST_OF_NAMES} characters")
    for attribute in ("userName", "displayName", "nickName"):
        shown = text(members, attribute)
        if visible_name(shown) is None and not _is_stored(attribute, shown, before):
            raise refusal(ScimType.INVALID_VALUE, f"{attribute}: expected visible characters")
    name = members.get("name")
    parts: Members = name if isinstance(name, dict) else {}
    language = text(members, "preferredLanguage").replace("_", "-")
    password = text(members, "password")
    return UserChange(
        email=email,
        given_name=_person(text(parts, "givenName"), "name.givenName"),
        family_name=_person(text(parts, "familyName"), "name.familyName"),
        language=language.partition(",")[0] or None,
        password=password or None,
        is_enabled=members.get("active") is not False,
        provisioned=Provisioned(
            user_name=user_name,
            external_id=text(members, "externalId"),
            display_name=_display_name(members, before),
            document=_document(members),
        ),
    )


def _person(name: str, attribute: str) -> str:
    try:
        return names.person(name) if name else ""
    except InvalidArgument as error:
        raise refusal(ScimType.INVALID_VALUE, f"{attribute}: {error.detail}") from error


def _is_stored(attribute: str, shown: str, before: User | None) -> bool:
    return before is not None and text(written(before), attribute) == shown


def _stored_forms(name: str) -> Collection[str | None]:
    """Return the name as the account stores it, and as earlier versions did, which dropped characters."""
    kept = (
        each
        for each in unicodedata.normalize("NFC", name)
        if unicodedata.category(each) in _ONCE_KEPT or each in "-'.\N{RIGHT SINGLE QUOTATION MARK}"
    )
    return visible_name(name), "".join(kept).strip()[:_MOST_ONCE_KEPT].strip()


def _kept(provisioned: Provisioned) -> Members:
    return msgspec.json.decode(provisioned.document, type=Members) if provisioned.document else {}


def _document(members: Members) -> str:
    kept = {name: members[name] for name in _KEPT if name in members}
    document = msgspec.json.encode(kept).decode() if kept else ""
    if len(document) > MOST_OF_DOCUMENT:
        raise refusal(
            ScimType.INVALID_VALUE, f"expected attributes of at most {MOST_OF_DOCUMENT} characters in all"
        )
    return document


def _display_name(members: Members, before: User | None) -> str:
    """Return the client's display name; a name that was derived from first and last name stays derived."""
    shown = text(members, "displayName")
    was_given = before is not None and before.provisioned is not None and before.provisioned.display_name
    return "" if before is not None and not was_given and shown == before.name else shown


def _name(kept: Members, user: User) -> Members:
    found = kept.get("name")
    name: Members = dict(found) if isinstance(found, dict) else {}
    for part, own in (("familyName", user.family_name), ("givenName", user.given_name)):
        if own not in _stored_forms(text(name, part)):
            name[part] = own
            name.pop("formatted", None)
        if not name.get(part):
            name.pop(part, None)
    if name and "formatted" not in name and user.name:
        name["formatted"] = user.name
    return name


def _emails(kept: list[Members], email: str) -> list[Members]:
    """Return the client's addresses, among which the account's is the primary one."""
    if not kept:
        return [{"value": email, "type": "work", "primary": True}]
    main = _main(kept)
    if email_key(text(main, "value")) == email:
        return kept
    return [{**each, "value": email} if each is main else each for each in kept]


def _main_email(members: Members, before: User | None) -> str:
    emails = texts(members.get("emails"))
    address = text(_main(emails), "value") if emails else ""
    if address:
        return address
    if before is not None:
        return before.email
    user_name = text(members, "userName")
    if "@" not in user_name:
        raise refusal(ScimType.INVALID_VALUE, "emails: expected an address, because userName is none")
    return user_name


def _main(emails: list[Members]) -> Members:
    """Return the primary address, else the one of work, else the first one."""
    primary = (each for each in emails if each.get("primary") is True)
    work = (each for each in emails if text(each, "type").lower() == "work")
    return next(primary, None) or next(work, None) or emails[0]
