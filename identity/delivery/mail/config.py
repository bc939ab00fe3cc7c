"""The section of the configuration file about mail."""

from dataclasses import dataclass, field
from email.errors import MessageError
from email.headerregistry import Address
from email.utils import parseaddr
from enum import StrEnum
from pathlib import Path

from identity.foundation.bounds import expect_within


class SmtpSecurity(StrEnum):
    """Encryption of the connection to the mail server: RFC 8314 recommends `tls`."""

    TLS = "tls"
    STARTTLS = "starttls"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailConfig:
    """[email]: the mail server and the retries; without `smtp_host` and `directory` no mails are sent.

    With a `directory` every mail becomes a file there, for development. A failed delivery is repeated after a minute or
    more, and given up after `attempts`.
    """

    smtp_host: str = ""
    smtp_port: int = 587
    smtp_security: SmtpSecurity = SmtpSecurity.STARTTLS
    smtp_username: str = ""
    smtp_password: str = field(default="", repr=False)
    from_address: str = ""
    directory: Path | None = None
    attempts: int = 500
    timeout_secs: int = 30
    poll_interval_secs: int = 2
    most_at_a_time: int = 10

    def __post_init__(self) -> None:
        expect_within("email.smtp_port", self.smtp_port, 1, 65_535)
        expect_within("email.attempts", self.attempts, 1, 5000)
        expect_within("email.timeout_secs", self.timeout_secs, 1, 300)
        expect_within("email.poll_interval_secs", self.poll_interval_secs, 1, 60)
        expect_within("email.most_at_a_time", self.most_at_a_time, 1, 100)
        if self.smtp_host and self.directory is not None:
            raise ValueError("email: expected smtp_host or directory, found both")
        if self.is_set and not _is_sender(self.from_address):
            raise ValueError(f"email.from_address: expected an address, found {self.from_address!r}")
        if self.smtp_password and self.smtp_security is SmtpSecurity.NONE:
            raise ValueError(
                "email.smtp_password: expected an encrypted connection, found smtp_security none"
            )

    @property
    def is_set(self) -> bool:
        """Whether mail is configured."""
        return bool(self.smtp_host) or self.directory is not None


def _is_sender(text: str) -> bool:
    _, address = parseaddr(text)
    try:
        return bool(Address(addr_spec=address).domain)
    except (MessageError, ValueError, IndexError):
        return False
