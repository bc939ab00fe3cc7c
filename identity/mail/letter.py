"""A letter to a person, and what it looks like on the wire: RFC 5322."""

from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime


@dataclass(frozen=True, slots=True)
class Letter:
    """`text` is plain; whatever a person chose in it is to be read, so no program finds a link there that is not ours."""

    to: str
    subject: str
    text: str = field(repr=False)


def message_of(letter: Letter, *, letter_id: str, sender: str, at: datetime) -> EmailMessage:
    """Raise ValueError for a header that would be more than one."""
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = letter.to
    message["Subject"] = letter.subject
    message["Date"] = format_datetime(at)
    message["Message-ID"] = f"<{letter_id}@{sender.rpartition('@')[2].rstrip('> ')}>"
    # RFC 3834 §5: nobody is to answer by itself.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text)
    return message
