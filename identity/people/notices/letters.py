"""Texts of notices about account changes, one row each; each has a link to report the change as not one's own.

A notice repeats no input but email addresses.
"""

from collections.abc import Callable, Mapping

from identity.delivery.mail.letter import Letter
from identity.foundation.events.event import Event
from identity.foundation.events.kinds import EventType

_Words = Callable[[Event], tuple[str, str]]


def notice(to: str, event: Event, not_me: str) -> Letter:
    """Raises KeyError for an event without a message."""
    subject, text = _WORDS[event.type](event)
    # The network address of an administrator stays private.
    is_own = event.actor is None or event.actor.id == event.user_id
    where = f" from the IP address {event.ip}" if event.ip and is_own else ""
    return Letter(
        to,
        subject,
        f"""Hello,

{text}

This happened on {event.at:%Y-%m-%d} at {event.at:%H:%M} UTC{where}.

If this was you, you do not have to do anything. If this was not you, open this link. It ends all your sessions:

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
    return (
        "Your password was removed",
        "Your account no longer has a password. You sign in with your passkeys.",
    )


def _codes_added(_event: Event) -> tuple[str, str]:
    return "An authenticator app was added", "An authenticator app was added to your account."


def _codes_removed(_event: Event) -> tuple[str, str]:
    return "An authenticator app was removed", "An authenticator app was removed from your account."


def _codes_paused(_event: Event) -> tuple[str, str]:
    return "Wrong one-time codes", "Someone entered too many wrong one-time codes for your account."


def _recovery_made(_event: Event) -> tuple[str, str]:
    return (
        "New recovery codes",
        "New recovery codes were created for your account. The previous codes no longer work.",
    )


def _recovery_removed(_event: Event) -> tuple[str, str]:
    return "Recovery codes were removed", "Your account no longer has recovery codes."


def _recovery_used(_event: Event) -> tuple[str, str]:
    return "A recovery code was used", "A recovery code of your account was used. It no longer works."


def _address(event: Event) -> tuple[str, str]:
    return "Your email address was changed", f"The email address of your account was changed: {event.text}."


def _new_location(_event: Event) -> tuple[str, str]:
    return "New sign-in to your account", "Someone signed in to your account from a new location."


def _provider_linked(_event: Event) -> tuple[str, str]:
    return (
        "A sign-in was linked to your account",
        "You can now sign in to your account through an account at another provider.",
    )


def _provider_unlinked(_event: Event) -> tuple[str, str]:
    return (
        "A sign-in was removed from your account",
        "An account at another provider no longer signs you in.",
    )


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
    EventType.PROVIDER_LINKED: _provider_linked,
    EventType.PROVIDER_UNLINKED: _provider_unlinked,
}

TOLD_OF = frozenset(_WORDS)
