"""Mails with links to set a password."""

from datetime import datetime

from identity.delivery.mail.letter import Letter, paragraphs
from server.platform.languages import Language


def forgotten_password(to: str, link: str, until: datetime, language: Language) -> Letter:
    _ = language.translated
    return Letter(
        to,
        _("Choose a new password"),
        paragraphs(
            _("Hello,"),
            _("We received a request for a new password for the account %(email)s.", email=to),
            _("To choose a new password, open this link in the browser that you want to use:"),
            link,
            _("The link works once and expires at %(when)s.", when=language.moment(until)),
            _("If you did not request this, ignore this message. Your password stays the same."),
        ),
        language.tag,
    )


def signed_in_elsewhere(to: str, sign_in: str, language: Language) -> Letter:
    _ = language.translated
    return Letter(
        to,
        _("Your account has no password"),
        paragraphs(
            _("Hello,"),
            _("We received a request for a new password for the account %(email)s.", email=to),
            _(
                "This account has no password, because you sign in with another provider. "
                "To sign in, open this page and choose your provider:"
            ),
            sign_in,
            _("If you did not request this, ignore this message."),
        ),
        language.tag,
    )


def first_password(to: str, link: str, until: datetime, language: Language) -> Letter:
    _ = language.translated
    return Letter(
        to,
        _("Your new account"),
        paragraphs(
            _("Hello,"),
            _("An account was created for you with the email address %(email)s.", email=to),
            _(
                "To choose a password, or to use a passkey instead, "
                "open this link in the browser that you want to use:"
            ),
            link,
            _(
                "The link works once and expires at %(when)s. "
                "After that, use “Forgot password?” on the sign-in page.",
                when=language.moment(until),
            ),
        ),
        language.tag,
    )


def company_account(to: str, sign_in: str, language: Language) -> Letter:
    _ = language.translated
    return Letter(
        to,
        _("Your new account"),
        paragraphs(
            _("Hello,"),
            _("An account was created for you with the email address %(email)s.", email=to),
            _("You sign in through your organization. Start here:"),
            sign_in,
        ),
        language.tag,
    )
