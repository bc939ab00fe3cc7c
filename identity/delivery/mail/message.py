"""Message of a mail, with a text and an HTML part: RFC 5322, RFC 2046 §5.1.4."""

from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from identity.delivery.mail.html_part import html_part
from identity.delivery.mail.letter import Letter
from identity.foundation.tenants import Tenant
from server.platform.languages import languages


def message_of(letter: Letter, *, letter_id: str, sender: str, tenant: Tenant, at: datetime) -> EmailMessage:
    """Raise ValueError for a header with a line break."""
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = letter.to
    message["Subject"] = letter.subject
    message["Date"] = format_datetime(at)
    message["Message-ID"] = f"<{letter_id}@{sender.rpartition('@')[2].rstrip('> ')}>"
    # RFC 3834 §5: prevents automatic replies.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text)
    html = html_part(letter, tenant, languages().of(letter.language))
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    if letter.language:
        message["Content-Language"] = letter.language
    return message
