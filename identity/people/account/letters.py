"""Messages about a change of the email address."""

from datetime import datetime

from identity.delivery.mail.letter import Letter, paragraphs
from server.platform.languages import Language


def confirm_address(to: str, link: str, until: datetime, language: Language) -> Letter:
    _ = language.translated
    return Letter(
        to,
        _("Confirm your new email address"),
        paragraphs(
            _("Hello,"),
            _("We received a request to use %(email)s as the email address of an account.", email=to),
            _("To confirm that the address is yours, open this link and press the button there:"),
            link,
            _("The link works once and expires at %(when)s.", when=language.moment(until)),
            _("If you did not request this, ignore this message."),
        ),
        language.tag,
    )


def address_about_to_change(to: str, address: str, not_me: str, language: Language) -> Letter:
    _ = language.translated
    return Letter(
        to,
        _("Your email address is about to change"),
        paragraphs(
            _("Hello,"),
            _(
                "We received a request to change the email address of your account from %(before)s to %(after)s.",
                before=to,
                after=address,
            ),
            _("The address changes as soon as the new one is confirmed."),
            _("If this was not you, open this link. It ends all your sessions and cancels the change:"),
            not_me,
        ),
        language.tag,
    )
