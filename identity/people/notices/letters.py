"""Texts of notices about account changes, one row each; each has a link to report the change as not one's own.

A notice repeats no input but email addresses.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from identity.delivery.mail.letter import Letter, paragraphs
from identity.foundation.events.event import Event
from identity.foundation.events.kinds import EventType
from server.platform.languages import Language, marked


class SignIn(Protocol):
    """A sign-in; `browser` is a name of our own words, `country` an ISO 3166 code, both empty when unknown."""

    @property
    def at(self) -> datetime: ...

    @property
    def peer_address(self) -> str: ...

    @property
    def browser(self) -> str: ...

    @property
    def country(self) -> str: ...

    @property
    def has_new_device(self) -> bool: ...

    @property
    def has_new_country(self) -> bool: ...


def new_sign_in(to: str, sign_in: SignIn, *, account: str, not_me: str, language: Language) -> Letter:
    """`account` is the address of the account page."""
    _ = language.translated
    browser = (_("Browser: %(browser)s", browser=sign_in.browser),) if sign_in.browser else ()
    country = (
        (_("Country: %(country)s", country=language.territory(sign_in.country)),) if sign_in.country else ()
    )
    return Letter(
        to,
        _("New sign-in to your account"),
        paragraphs(
            _("Hello,"),
            _new_part(sign_in, language),
            *browser,
            *country,
            _happened(language, sign_in.at, sign_in.peer_address),
            _("If this was you, you do not have to do anything."),
            _("Your account page shows your sessions, and ends them:"),
            account,
            _("If this was not you, open this link. It ends all your sessions:"),
            not_me,
        ),
        language.tag,
    )


def notice(to: str, event: Event, not_me: str, language: Language) -> Letter:
    """Raises KeyError for an event without a message."""
    _ = language.translated
    subject, text = _WORDS[event.type]
    # The network address of an administrator stays private.
    is_own = event.actor is None or event.actor.id == event.user_id
    return Letter(
        to,
        _(subject),
        paragraphs(
            _("Hello,"),
            _(text, change=event.text or "", who=event.actor.name if event.actor else ""),
            _happened(language, event.at, event.ip if event.ip and is_own else ""),
            _(_EXPECTED.get(event.type, _OWN)),
            _(_UNEXPECTED.get(event.type, _NOT_OWN)),
            not_me,
        ),
        language.tag,
    )


def _new_part(sign_in: SignIn, language: Language) -> str:
    _ = language.translated
    if sign_in.has_new_device:
        return _("Someone signed in to your account with a browser or device that is new to it.")
    if sign_in.has_new_country:
        return _("Someone signed in to your account from a new country.")
    return _("Someone signed in to your account from a new network address.")


def _happened(language: Language, at: datetime, peer_address: str) -> str:
    _, when = language.translated, language.moment(at)
    if not peer_address:
        return _("This happened on %(when)s.", when=when)
    return _("This happened on %(when)s from the IP address %(ip)s.", when=when, ip=peer_address)


_PASSWORD = (
    marked("Your password was changed"),
    marked("The password of your account was changed."),
)
_OWN = marked("If this was you, you do not have to do anything.")
_NOT_OWN = marked("If this was not you, open this link. It ends all your sessions:")
_EXPECTED = {
    EventType.IMPERSONATION_STARTED: marked("You allowed this. Your account page shows until when."),
}
_UNEXPECTED = {
    EventType.IMPERSONATION_STARTED: marked(
        "To end it, open this link. It withdraws the permission and ends all your sessions:"
    ),
}
# Subject and text; `%(change)s` is the text of the event, `%(who)s` the name of its actor.
_WORDS: Mapping[EventType, tuple[str, str]] = {
    EventType.USER_PASSWORD_CHANGED: _PASSWORD,
    EventType.USER_PASSWORD_RESET: _PASSWORD,
    EventType.PASSKEY_ADDED: (
        marked("A passkey was added"),
        marked("A passkey was added to your account."),
    ),
    EventType.PASSKEY_REMOVED: (
        marked("A passkey was removed"),
        marked("A passkey was removed from your account."),
    ),
    EventType.ACCOUNT_CONVERTED_TO_PASSKEY: (
        marked("Your password was removed"),
        marked("Your account no longer has a password. You sign in with your passkeys."),
    ),
    EventType.ONE_TIME_CODES_ADDED: (
        marked("An authenticator app was added"),
        marked("An authenticator app was added to your account."),
    ),
    EventType.ONE_TIME_CODES_REMOVED: (
        marked("An authenticator app was removed"),
        marked("An authenticator app was removed from your account."),
    ),
    EventType.ONE_TIME_CODES_PAUSED: (
        marked("Wrong one-time codes"),
        marked("Someone entered too many wrong one-time codes for your account."),
    ),
    EventType.RECOVERY_CODES_MADE: (
        marked("New recovery codes"),
        marked("New recovery codes were created for your account. The previous codes no longer work."),
    ),
    EventType.RECOVERY_CODES_REMOVED: (
        marked("Recovery codes were removed"),
        marked("Your account no longer has recovery codes."),
    ),
    EventType.RECOVERY_CODE_USED: (
        marked("A recovery code was used"),
        marked("A recovery code of your account was used. It no longer works."),
    ),
    EventType.USER_EMAIL_CHANGE: (
        marked("Your email address was changed"),
        marked("The email address of your account was changed: %(change)s."),
    ),
    EventType.IMPERSONATION_STARTED: (
        marked("Support signed in to your account"),
        marked("The support person %(who)s signed in as you."),
    ),
    EventType.PROVIDER_LINKED: (
        marked("A sign-in was linked to your account"),
        marked("You can now sign in to your account through an account at another provider."),
    ),
    EventType.PROVIDER_UNLINKED: (
        marked("A sign-in was removed from your account"),
        marked("An account at another provider no longer signs you in."),
    ),
}

TOLD_OF = frozenset(_WORDS)
