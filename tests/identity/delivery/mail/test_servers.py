"""Delivery of mails over real SMTP, and into a directory."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import SMTP as POLICY
from pathlib import Path

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from identity.delivery.mail.config import EmailConfig, SmtpSecurity
from identity.delivery.mail.directory import LetterDirectory
from identity.delivery.mail.letter_sender import DeliveryOutcome
from identity.delivery.mail.message import message_of
from identity.delivery.mail.smtp import SmtpServer
from tests.identity.delivery.mail.certificate import certificate_for
from tests.identity.delivery.mail.letters import LETTER, NOON, SENDER, TENANT
from tests.identity.mailbox import text_of

MESSAGE = message_of(LETTER, letter_id="letter-1", sender=SENDER, tenant=TENANT, at=NOON)


@dataclass
class Mailbox:
    """A mail server; `rcpt` and `data` are its responses to a recipient and to a mail."""

    port: int = 0
    rcpt: str = "250 OK"
    data: str = "250 OK"
    envelopes: list[Envelope] = field(default_factory=list)
    logins: list[bytes] = field(default_factory=list)

    async def handle_RCPT(  # noqa: N802  # the name is aiosmtpd's
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if self.rcpt.startswith("250"):
            envelope.rcpt_tos.append(address)
        return self.rcpt

    async def handle_DATA(  # noqa: N802  # the name is aiosmtpd's
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        self.envelopes.append(envelope)
        return self.data

    def authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: object
    ) -> AuthResult:
        password: bytes = getattr(data, "password", b"")
        self.logins.append(password)
        return AuthResult(success=password == b"s3cret", handled=False)


@asynccontextmanager
async def listening(
    mailbox: Mailbox, *, tls: ssl.SSLContext | None = None, is_implicit: bool = False
) -> AsyncIterator[Mailbox]:
    def protocol() -> SMTP:
        return SMTP(
            mailbox,
            tls_context=None if is_implicit else tls,
            require_starttls=tls is not None and not is_implicit,
            authenticator=mailbox.authenticate if tls is not None else None,
            auth_require_tls=not is_implicit,
        )

    server = await asyncio.get_running_loop().create_server(
        protocol, "127.0.0.1", 0, ssl=tls if is_implicit else None
    )
    async with server:
        mailbox.port = server.sockets[0].getsockname()[1]
        yield mailbox


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate_for("localhost", tmp_path_factory.mktemp("certificate"))


def server_side(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


def config(mailbox: Mailbox, security: SmtpSecurity, *, password: str = "") -> EmailConfig:
    return EmailConfig(
        smtp_host="localhost" if security is not SmtpSecurity.NONE else "127.0.0.1",
        smtp_port=mailbox.port,
        smtp_security=security,
        smtp_username="gnomon" if password else "",
        smtp_password=password,
        from_address=SENDER,
        timeout_secs=5,
    )


async def test_a_mail_server_is_handed_the_letter() -> None:
    async with listening(Mailbox()) as mailbox:
        server = SmtpServer(config(mailbox, SmtpSecurity.NONE))

        assert await server.send("letter-1", MESSAGE) is DeliveryOutcome.TAKEN

    [envelope] = mailbox.envelopes
    assert (envelope.mail_from, envelope.rcpt_tos) == ("no-reply@id.example.com", ["alice@example.com"])
    assert isinstance(envelope.content, bytes)
    received = message_from_bytes(envelope.content, policy=POLICY)
    assert received["Subject"] == LETTER.subject
    assert text_of(received).splitlines() == ["https://id.example.com/c0de"]


@pytest.mark.parametrize(
    ("rcpt", "data", "reception"),
    [
        ("550 no such mailbox", "250 OK", DeliveryOutcome.REFUSED),
        ("250 OK", "554 not wanted", DeliveryOutcome.REFUSED),
        ("450 come back later", "250 OK", DeliveryOutcome.AWAY),
        ("250 OK", "451 disk full", DeliveryOutcome.AWAY),
    ],
)
async def test_a_refusal_for_good_is_told_from_one_for_now(
    rcpt: str, data: str, reception: DeliveryOutcome
) -> None:
    async with listening(Mailbox(rcpt=rcpt, data=data)) as mailbox:
        server = SmtpServer(config(mailbox, SmtpSecurity.NONE))

        assert await server.send("letter-1", MESSAGE) is reception


@pytest.mark.parametrize("security", [SmtpSecurity.STARTTLS, SmtpSecurity.TLS])
async def test_a_protected_way_carries_letters_and_the_password(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, security: SmtpSecurity
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls = server_side(certificate)
    async with listening(Mailbox(), tls=tls, is_implicit=security is SmtpSecurity.TLS) as mailbox:
        server = SmtpServer(config(mailbox, security, password="s3cret"))

        assert await server.send("letter-1", MESSAGE) is DeliveryOutcome.TAKEN

    assert mailbox.logins == [b"s3cret"]
    assert len(mailbox.envelopes) == 1


@pytest.mark.parametrize("security", [SmtpSecurity.STARTTLS, SmtpSecurity.TLS])
async def test_nothing_is_said_to_a_mail_server_that_nobody_vouches_for(
    certificate: Path, security: SmtpSecurity
) -> None:
    tls = server_side(certificate)
    async with listening(Mailbox(), tls=tls, is_implicit=security is SmtpSecurity.TLS) as mailbox:
        server = SmtpServer(config(mailbox, security, password="s3cret"))

        assert await server.send("letter-1", MESSAGE) is DeliveryOutcome.AWAY

    assert mailbox.logins == []
    assert mailbox.envelopes == []


async def test_nothing_is_said_in_the_clear_when_the_way_is_to_be_protected() -> None:
    async with listening(Mailbox()) as mailbox:
        server = SmtpServer(config(mailbox, SmtpSecurity.STARTTLS))

        assert await server.send("letter-1", MESSAGE) is DeliveryOutcome.AWAY

    assert mailbox.envelopes == []


async def test_a_mail_server_that_is_not_there_is_away() -> None:
    async with listening(Mailbox()) as mailbox:
        server = SmtpServer(config(mailbox, SmtpSecurity.NONE))

    assert await server.send("letter-1", MESSAGE) is DeliveryOutcome.AWAY


async def test_a_letter_in_a_directory_is_the_owners_alone(tmp_path: Path) -> None:
    letters = LetterDirectory(tmp_path / "letters")

    assert await letters.send("letter-1", MESSAGE) is DeliveryOutcome.TAKEN

    [file] = (tmp_path / "letters").iterdir()
    assert file.name == "letter-1.eml"
    assert file.read_bytes() == MESSAGE.as_bytes()
    assert file.stat().st_mode & 0o077 == 0


async def test_a_directory_that_cannot_be_written_is_away(tmp_path: Path) -> None:
    (tmp_path / "letters").write_text("a file")

    assert await LetterDirectory(tmp_path / "letters").send("letter-1", MESSAGE) is DeliveryOutcome.AWAY


@pytest.mark.parametrize(
    "fields",
    [
        {"smtp_host": "mail.example.com"},
        {"smtp_host": "mail.example.com", "from_address": "nobody"},
        {"smtp_host": "mail.example.com", "from_address": SENDER, "directory": Path("letters")},
        {
            "smtp_host": "mail.example.com",
            "from_address": SENDER,
            "smtp_password": "s3cret",
            "smtp_security": SmtpSecurity.NONE,
        },
        {"attempts": 0},
        {"smtp_port": 65_536},
    ],
)
def test_a_section_that_contradicts_itself_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"^email"):
        EmailConfig(**fields)  # type: ignore[arg-type]  # of several types
