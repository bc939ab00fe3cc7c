"""Maps users between messages and the domain."""

from collections.abc import Mapping

from gnomon.identity.v1 import user_pb2
from identity.access.rpc.records import message_of
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

_NAMES = {"password_expires": "password_until", "user_expires": "valid_until"}
_FEDERATED = frozenset({AccountType.FEDERATED, AccountType.FEDERATED_PASSKEY, AccountType.FEDERATED_PASSWORD})


def values_of(message: user_pb2.UserValues) -> Mapping[str, str]:
    """Return the claims that are present; an empty text removes a claim."""
    return {_VALUES[field.name]: text for field, text in message.ListFields() if field.name in _VALUES}


def user_message(user: User) -> user_pb2.User:
    is_confirmed = not user.must_confirm_email
    return message_of(
        user_pb2.User,
        user,
        _NAMES,
        given_name=user.given_name or None,
        family_name=user.family_name or None,
        user_values=user_pb2.UserValues(
            preferred_username=user.preferred_username or None,
            **{name: user.values.get(claim) for name, claim in _VALUES.items()},
        ),
        confirmation_state=(
            user_pb2.CONFIRMATION_STATE_CONFIRMED if is_confirmed else user_pb2.CONFIRMATION_STATE_UNCONFIRMED
        ),
        created_by=_created_by(user),
        picture_id=user.picture_id or None,
    )


def _created_by(user: User) -> str:
    if user.is_self_registered:
        return "self"
    return "provider" if user.account_type in _FEDERATED else "admin"
