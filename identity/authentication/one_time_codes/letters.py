"""The message with a code for the sign-in."""

from datetime import datetime

from identity.delivery.mail.letter import Letter, paragraphs
from server.platform.languages import Language


def sign_in_code(to: str, code: str, until: datetime, language: Language) -> Letter:
    _ = language.translated
    return Letter(
        to,
        _("Your code to sign in"),
        paragraphs(
            _("Hello,"),
            _("Enter this code on the sign-in page:"),
            code,
            _("The code works once and expires at %(when)s.", when=language.moment(until)),
            _(
                "If you are not signing in, somebody else knows your password. "
                "Tell nobody the code, and change your password."
            ),
        ),
        language.tag,
    )
