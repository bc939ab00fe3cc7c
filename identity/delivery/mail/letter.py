"""A mail to a user, and its message format: RFC 5322."""

from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime


@dataclass(frozen=True, slots=True)
class Letter:
    """`text` is plain text. Values in it that a user chose must not look like links to mail programs.

    `language` is the tag of its language, empty in letters that an earlier version queued.
    """

    to: str
    subject: str
    text: str = field(repr=False)
    language: str = ""


def paragraphs(*texts: str) -> str:
    return "".join(f"{text}\n\n" for text in texts[:-1]) + f"{texts[-1]}\n"


def message_of(letter: Letter, *, letter_id: str, sender: str, at: datetime) -> EmailMessage:
    """Raise ValueError for a header that would be more than one."""
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = letter.to
    message["Subject"] = letter.subject
    message["Date"] = format_datetime(at)
    message["Message-ID"] = f"<{letter_id}@{sender.rpartition('@')[2].rstrip('> ')}>"
    # RFC 3834 §5: prevents automatic replies.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text)
    if letter.language:
        message["Content-Language"] = letter.language
    return message
