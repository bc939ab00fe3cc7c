"""Reasons why a message of a SAML provider is refused; the event of the refusal names the reason."""

from enum import StrEnum


class Refusal(StrEnum):
    MALFORMED = "the message is no SAML response, or not well-formed"
    STRUCTURE = "the message has more or other parts than one assertion"
    UNSIGNED = "the message has no signature"
    SIGNATURE = "the signature is invalid"
    ALGORITHM = "the algorithm of the signature is not accepted"
    ENCRYPTION = "the assertion is not encrypted as required, or cannot be decrypted"
    ISSUER = "the message comes from another issuer"
    DESTINATION = "the message is addressed to another endpoint"
    RECIPIENT = "the assertion is meant for another recipient"
    AUDIENCE = "the assertion is meant for another audience"
    IN_RESPONSE_TO = "the message answers another request, or none"
    TIME = "the message is expired or not yet valid"
    CONDITION = "the assertion has a condition that is not understood"
    SUBJECT = "the assertion does not identify a user"
    AUTHENTICATION = "the assertion has no recent authentication"
    REPLAY = "the assertion was used before"


class RefusedMessage(Exception):
    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason = reason
