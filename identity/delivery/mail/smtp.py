"""SMTP client for mails: RFC 5321, with TLS or STARTTLS and a verified certificate."""

import logging
from email.message import EmailMessage
from email.utils import parseaddr

import aiosmtplib

from identity.delivery.mail.config import EmailConfig, SmtpSecurity
from identity.delivery.mail.letter_sender import DeliveryOutcome

logger = logging.getLogger(__name__)

_PERMANENT = range(500, 600)


class SmtpServer:
    """Opens one connection for each mail."""

    def __init__(self, config: EmailConfig) -> None:
        self._config = config
        # The greeting names the domain of the sender; the name of the host stays private.
        self._domain = parseaddr(config.from_address)[1].rpartition("@")[2]

    async def send(self, letter_id: str, message: EmailMessage) -> DeliveryOutcome:
        config = self._config
        try:
            await aiosmtplib.send(
                message,
                hostname=config.smtp_host,
                port=config.smtp_port,
                username=config.smtp_username or None,
                password=config.smtp_password or None,
                local_hostname=self._domain,
                timeout=config.timeout_secs,
                use_tls=config.smtp_security is SmtpSecurity.TLS,
                start_tls=config.smtp_security is SmtpSecurity.STARTTLS,
            )
        except (aiosmtplib.SMTPException, OSError, TimeoutError, ValueError) as error:
            reception = _reception(error)
            # The response of the server may contain the recipient's address, so it is not logged.
            logger.warning(
                "the mail server did not accept a mail",
                extra={
                    "letter_id": letter_id,
                    "error": type(error).__name__,
                    "reception": reception.name.lower(),
                },
            )
            return reception
        return DeliveryOutcome.TAKEN


def _reception(error: Exception) -> DeliveryOutcome:
    # A refused login or sender is a fault of the configuration: these mails are retried.
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        codes = [refused.code for refused in error.recipients]
    elif isinstance(error, aiosmtplib.SMTPDataError | aiosmtplib.SMTPRecipientRefused):
        codes = [error.code]
    else:
        codes = []
    return (
        DeliveryOutcome.REFUSED
        if codes and all(code in _PERMANENT for code in codes)
        else DeliveryOutcome.AWAY
    )
