"""Composes the delivery of mails."""

from collections.abc import Coroutine, Iterator

from identity.delivery.mail.config import EmailConfig
from identity.delivery.mail.directory import LetterDirectory
from identity.delivery.mail.letter_sender import LetterSender, MailServer
from identity.delivery.mail.queued_letter import QUEUED_LETTERS, LetterSafe, QueuedLetter
from identity.delivery.mail.smtp import SmtpServer
from identity.delivery.retry_queue import RetryQueue
from identity.wiring.dependencies import Dependencies


def mailing(dependencies: Dependencies) -> Iterator[Coroutine[None, None, None]]:
    """Return background loops that run while the provider runs; none without mail."""
    if dependencies.config.email.is_set:
        yield _letters(dependencies).run(dependencies.tenants.all, dependencies.pause)


def _letters(dependencies: Dependencies) -> RetryQueue[QueuedLetter]:
    config = dependencies.config.email
    handler = LetterSender(
        _server(config),
        LetterSafe(dependencies.master_keys),
        sender=config.from_address,
        events=dependencies.events,
        clock=dependencies.clock,
    )
    return RetryQueue(
        "letter",
        dependencies.store.of(QUEUED_LETTERS),
        handler,
        clock=dependencies.clock,
        randomness=dependencies.randomness,
        policy=config,
    )


def _server(config: EmailConfig) -> MailServer:
    return SmtpServer(config) if config.directory is None else LetterDirectory(config.directory)
