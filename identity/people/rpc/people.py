"""Maps users between messages and the domain."""

from collections.abc import Mapping
from datetime import datetime

from gnomon.identity.v1 import user_pb2
from identity.directory.user import AccountType, User

# Names in messages, and the names of the standard claims.
_VALUES = {
    "birthdate": "birthdate",
    "phone": "phone_number",
    "street": "street_address",
    "zip": "postal_code",
    "city": "locality",
    "country": "country",
    "tz": "zoneinfo",
}

_FEDERATED = frozenset({AccountType.FEDERATED, AccountType.FEDERATED_PASSKEY, AccountType.FEDERATED_PASSWORD})


def values_of(message: user_pb2.UserValues) -> Mapping[str, str]:
    """Return the claims that are present; an empty text removes a claim."""
    return {_VALUES[field.name]: text for field, text in message.ListFields() if field.name in _VALUES}


def user_message(user: User) -> user_pb2.User:
    is_confirmed = not user.must_confirm_email
    return user_pb2.User(
        id=user.id,
        email=user.email,
        given_name=user.given_name or None,
        family_name=user.family_name or None,
        language=user.language,
        roles=user.roles,
        groups=user.groups,
        enabled=user.is_enabled,
        email_verified=user.is_email_verified,
        password_expires=_seconds(user.password_until),
        created_at=_seconds(user.created_at) or 0,
        last_login=_seconds(user.last_login_at),
        user_expires=_seconds(user.valid_until),
        account_type=user.account_type,
        user_values=user_pb2.UserValues(
            preferred_username=user.preferred_username or None,
            **{name: user.values.get(claim) for name, claim in _VALUES.items()},
        ),
        tenant_id=user.tenant_id,
        confirmation_state=(
            user_pb2.CONFIRMATION_STATE_CONFIRMED if is_confirmed else user_pb2.CONFIRMATION_STATE_UNCONFIRMED
        ),
        confirmed_at=_seconds(user.confirmed_at),
        created_by=_created_by(user),
        picture_id=user.picture_id or None,
    )


def _created_by(user: User) -> str:
    if user.is_self_registered:
        return "self"
    return "provider" if user.account_type in _FEDERATED else "admin"


def _seconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())
