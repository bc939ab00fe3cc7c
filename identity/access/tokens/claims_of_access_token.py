"""Claims of access tokens that this provider signed."""

from collections.abc import Mapping

import msgspec

from identity.access.tokens.actor import Actor
from identity.access.tokens.token_ids import token_set_id_of
from identity.directory.authorization_details.details import Details, canonical
from identity.foundation.errors import InvalidToken
from identity.foundation.vocabulary import TokenType


class Confirmation(msgspec.Struct, frozen=True):
    """Key and certificate that a token is bound to, each empty for none: RFC 9449 §6.1, RFC 8705 §3.1."""

    jkt: str = ""
    certificate: str = msgspec.field(default="", name="x5t#S256")


class AccessTokenClaims(msgspec.Struct, frozen=True):
    """Claims of our access tokens; a token that lacks a required one, or has another type, is invalid."""

    iss: str
    sub: str
    aud: str | tuple[str, ...]
    azp: str
    iat: int
    nbf: int
    exp: int
    jti: str
    typ: TokenType
    scope: str = ""
    sid: str = ""
    did: str = ""
    # Tokens of earlier versions, which are valid for a day at most, have it.
    set_id: str = ""
    cnf: Confirmation = Confirmation()
    act: Actor | None = None
    authorization_details: tuple[Mapping[str, object], ...] = ()

    @property
    def oauth_scopes(self) -> frozenset[str]:
        return frozenset(self.scope.split())

    @property
    def details(self) -> Details:
        return tuple(map(canonical, self.authorization_details))

    @property
    def is_bearer(self) -> bool:
        """Whether the token is valid without any proof."""
        return self.typ is TokenType.BEARER and not self.cnf.certificate

    @property
    def token_set_id(self) -> str:
        """Id of the token set, empty for a client in its own name."""
        return self.set_id or token_set_id_of(self.jti)


def access_token_claims(document: bytes | Mapping[str, object]) -> AccessTokenClaims:
    """Read the claims of a token, from JSON or read already; raises InvalidToken."""
    try:
        if isinstance(document, bytes):
            return msgspec.json.decode(document, type=AccessTokenClaims)
        return msgspec.convert(document, AccessTokenClaims)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidToken("the token is not an access token") from error
