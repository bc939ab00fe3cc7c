"""The mail that notifies a user of a client's request."""

from datetime import datetime

from identity.delivery.mail.letter import Letter, paragraphs
from server.platform.languages import Language


def request_waits(to: str, client_name: str, link: str, until: datetime, language: Language) -> Letter:
    """The message does not repeat the binding message, which the client chooses."""
    _ = language.translated
    return Letter(
        to,
        _("An application asks for your approval"),
        paragraphs(
            _("Hello,"),
            _("%(client)s asks you to confirm that it is you.", client=client_name),
            _("Open this page to see the request, and to approve or decline it there:"),
            link,
            _("The request expires at %(when)s.", when=language.moment(until)),
            _("If you do not expect this request, decline it or ignore this message."),
        ),
        language.tag,
    )
