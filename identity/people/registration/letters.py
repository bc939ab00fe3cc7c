"""Mails about a registration.

Anybody can cause such a mail to any address. It therefore repeats nothing from the form except the address itself, in
its header: no name can become a link, an advertisement or a second header.
"""

from identity.delivery.mail.letter import Letter, paragraphs
from identity.foundation.tenants import Tenant
from server.platform.languages import Language


def confirmation(tenant: Tenant, email: str, *, link: str, hours: int, language: Language) -> Letter:
    """The mail with the confirmation link."""
    _ = language.translated
    return Letter(
        email,
        _("Confirm your email address"),
        paragraphs(
            _("Hello,"),
            _("An account was created with this email address at %(site)s", site=tenant.origin),
            _open_within(hours, language),
            link,
            _("Links in earlier messages no longer work."),
            _(
                "If you did not create this account, do not open the link. "
                "You do not have to do anything else."
            ),
        ),
        language.tag,
    )


def confirmation_of_several(
    tenant: Tenant, email: str, *, link: str, hours: int, language: Language
) -> Letter:
    """The mail with the confirmation link for an address that several forms registered."""
    _ = language.translated
    return Letter(
        email,
        _("Confirm your email address"),
        paragraphs(
            _("Hello,"),
            _("This email address was registered more than once at %(site)s", site=tenant.origin),
            _open_within(hours, language),
            link,
            _(
                "You then choose a new password. The passwords that were entered before do not work. "
                "Only the link in the latest message works."
            ),
            _("If you did not create an account, do not open the link. You do not have to do anything else."),
        ),
        language.tag,
    )


def account_exists(tenant: Tenant, email: str, language: Language) -> Letter:
    """The mail to an address that already has an account."""
    _ = language.translated
    return Letter(
        email,
        _("You already have an account"),
        paragraphs(
            _("Hello,"),
            _(
                "Someone tried to create an account with this email address at %(site)s",
                site=tenant.origin,
            ),
            _("You already have an account there. It has not changed. If this was you, sign in as usual."),
            _("If this was not you, you do not have to do anything."),
        ),
        language.tag,
    )


def _open_within(hours: int, language: Language) -> str:
    return language.translated_plural(
        "To confirm that the address is yours, open this link within an hour and press the button there:",
        "To confirm that the address is yours, open this link within %(num)s hours and press the button there:",
        hours,
    )
