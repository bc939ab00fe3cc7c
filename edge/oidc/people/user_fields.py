"""Users as JSON: the bodies of POST, PUT and PATCH.

PUT replaces everything: absent members are removed, except the password and the language, which stay. PATCH names each
member that it sets or deletes; those of `user_values` are written `user_values.birthdate`, and so on.
"""

from collections.abc import Mapping

import msgspec

from edge.oidc.access.administration_calls import members
from edge.oidc.access.body import UnixSeconds, bad_request, out_of_bounds
from edge.oidc.access.documents import Members
from edge.oidc.openapi.schemas import choice, message
from gnomon.identity.v1 import user_pb2 as pb

_VALUES = ("birthdate", "phone", "street", "zip", "city", "country", "preferred_username", "tz")
_CONFIRMATION_STATES = {
    pb.CONFIRMATION_STATE_UNCONFIRMED: "unconfirmed",
    pb.CONFIRMATION_STATE_CONFIRMED: "confirmed",
}
_VALUE_PREFIX = "user_values."

# The value that deletes a member, by its key.
_EMPTY: Mapping[str, object] = {
    "given_name": "",
    "family_name": "",
    "groups": (),
    "user_expires": 0,
    **{f"{_VALUE_PREFIX}{name}": "" for name in _VALUES},
}


USER = message(pb.User, confirmation_state=choice(*_CONFIRMATION_STATES.values()))


def user_members(user: pb.User) -> Members:
    return members(user) | {"confirmation_state": _CONFIRMATION_STATES[user.confirmation_state]}


class UserValues(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    birthdate: str | None = None
    phone: str | None = None
    street: str | None = None
    zip: str | None = None
    city: str | None = None
    country: str | None = None
    preferred_username: str | None = None
    tz: str | None = None

    def message(self, absent: str | None) -> pb.UserValues:
        """`absent` stands for absent values."""
        values = {name: getattr(self, name) for name in _VALUES}
        return pb.UserValues(**{name: absent if text is None else text for name, text in values.items()})


class _Optional(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Optional members of a user."""

    given_name: str | None = None
    family_name: str | None = None
    language: str | None = None
    password: str | None = None
    groups: tuple[str, ...] | None = None
    user_expires: UnixSeconds | None = None
    user_values: UserValues = UserValues()


class NewUser(_Optional, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /users."""

    email: str
    language: str = "en"
    roles: tuple[str, ...] = ()
    tz: str | None = None

    def message(self) -> pb.UserFields:
        values = self.user_values.message(None)
        if self.tz is not None:
            values.tz = self.tz
        return pb.UserFields(
            email=self.email,
            given_name=self.given_name,
            family_name=self.family_name,
            language=self.language,
            password=self.password,
            roles=pb.Names(names=self.roles),
            groups=pb.Names(names=self.groups or ()),
            user_expires=self.user_expires,
            user_values=values,
        )


class UserBody(_Optional, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PUT /users/{id}."""

    email: str
    enabled: bool
    email_verified: bool
    roles: tuple[str, ...]

    def message(self) -> pb.UserFields:
        return pb.UserFields(
            email=self.email,
            given_name=self.given_name or "",
            family_name=self.family_name or "",
            language=self.language,
            password=self.password,
            roles=pb.Names(names=self.roles),
            groups=pb.Names(names=self.groups or ()),
            enabled=self.enabled,
            email_verified=self.email_verified,
            user_expires=self.user_expires or 0,
            user_values=self.user_values.message(""),
        )


class Put(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: str
    value: object


class UserPatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PATCH /users/{id}."""

    put: tuple[Put, ...] = ()
    deleted: tuple[str, ...] = msgspec.field(default=(), name="del")

    def message(self) -> pb.UserFields:
        """Raises Refused."""
        if not set(self.deleted) <= set(_EMPTY):
            raise bad_request(f"del: expected some of {', '.join(_EMPTY)}")
        changes = {put.key: put.value for put in self.put} | {key: _EMPTY[key] for key in self.deleted}
        try:
            return msgspec.convert(_nested(changes), _SomeOfUser).message()
        except msgspec.ValidationError as error:
            expected = "put: expected members of a user with values of their types"
            raise out_of_bounds(error, within="put: ") or bad_request(expected) from error


class _SomeOfUser(_Optional, frozen=True, forbid_unknown_fields=True, kw_only=True):
    email: str | None = None
    enabled: bool | None = None
    email_verified: bool | None = None
    roles: tuple[str, ...] | None = None

    def message(self) -> pb.UserFields:
        return pb.UserFields(
            email=self.email,
            given_name=self.given_name,
            family_name=self.family_name,
            language=self.language,
            password=self.password,
            roles=None if self.roles is None else pb.Names(names=self.roles),
            groups=None if self.groups is None else pb.Names(names=self.groups),
            enabled=self.enabled,
            email_verified=self.email_verified,
            user_expires=self.user_expires,
            user_values=self.user_values.message(None),
        )


def _nested(changes: Mapping[str, object]) -> dict[str, object]:
    own = {key: value for key, value in changes.items() if not key.startswith(_VALUE_PREFIX)}
    values = {
        key.removeprefix(_VALUE_PREFIX): value
        for key, value in changes.items()
        if key.startswith(_VALUE_PREFIX)
    }
    return {**own, "user_values": values} if values else own
