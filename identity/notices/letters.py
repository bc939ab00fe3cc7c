"""What people are told of, one row each: every one of these letters ends with the way to say "this was not me".

Nothing in them was chosen by whoever did it, but for an address.
"""

from collections.abc import Callable, Mapping

from identity.events.event import Event
from identity.events.kinds import EventType
from identity.mail.letter import Letter

_Words = Callable[[Event], tuple[str, str]]


def notice(to: str, event: Event, not_me: str) -> Letter:
    """Raises KeyError for an event that nobody is told of."""
    subject, text = _WORDS[event.type](event)
    # Where an administrator sits is nobody's business.
    is_own = event.actor is None or event.actor.id == event.user_id
    where = f" from the address {event.ip}" if event.ip and is_own else ""
    return Letter(
        to,
        subject,
        f"""{text}

This happened on {event.at:%Y-%m-%d} at {event.at:%H:%M} UTC{where}.

If this was you, there is nothing to do. If it was not, open this address, which ends all your sessions:

{not_me}
""",
    )


def _password(_event: Event) -> tuple[str, str]:
    return "Your password was changed", "The password of your account was changed."


def _passkey_added(_event: Event) -> tuple[str, str]:
    return "A passkey was added", "A passkey was added to your account."


def _passkey_removed(_event: Event) -> tuple[str, str]:
    return "A passkey was removed", "A passkey was removed from your account."


def _converted(_event: Event) -> tuple[str, str]:
    return "Your password was removed", "Your account has no password any more: its passkeys sign you in."


def _codes_added(_event: Event) -> tuple[str, str]:
    return "One-time codes were added", "A program that makes one-time codes was added to your account."


def _codes_removed(_event: Event) -> tuple[str, str]:
    return "One-time codes were removed", "A program that makes one-time codes was removed from your account."


def _codes_paused(_event: Event) -> tuple[str, str]:
    return "Wrong one-time codes", "Somebody gave too many wrong one-time codes for your account."


def _recovery_made(_event: Event) -> tuple[str, str]:
    return (
        "New recovery codes",
        "New recovery codes were made for your account; those before are good no more.",
    )


def _recovery_removed(_event: Event) -> tuple[str, str]:
    return "Recovery codes were removed", "Your account has no recovery codes any more."


def _recovery_used(_event: Event) -> tuple[str, str]:
    return "A recovery code was used", "A recovery code of your account was used; it is good no more."


def _address(event: Event) -> tuple[str, str]:
    return "Your address was changed", f"The address of your account was changed: {event.text}."


def _new_location(_event: Event) -> tuple[str, str]:
    return "A sign-in from a new place", "Somebody signed in to your account from where nobody did before."


_WORDS: Mapping[EventType, _Words] = {
    EventType.USER_PASSWORD_CHANGED: _password,
    EventType.USER_PASSWORD_RESET: _password,
    EventType.PASSKEY_ADDED: _passkey_added,
    EventType.PASSKEY_REMOVED: _passkey_removed,
    EventType.ACCOUNT_CONVERTED_TO_PASSKEY: _converted,
    EventType.ONE_TIME_CODES_ADDED: _codes_added,
    EventType.ONE_TIME_CODES_REMOVED: _codes_removed,
    EventType.ONE_TIME_CODES_PAUSED: _codes_paused,
    EventType.RECOVERY_CODES_MADE: _recovery_made,
    EventType.RECOVERY_CODES_REMOVED: _recovery_removed,
    EventType.RECOVERY_CODE_USED: _recovery_used,
    EventType.USER_EMAIL_CHANGE: _address,
    EventType.LOGIN_NEW_LOCATION: _new_location,
}

TOLD_OF = frozenset(_WORDS)
