"""Verification of a presented access token: RFC 6750 §2, RFC 9449 §7, RFC 8705 §3."""

import hmac
from dataclasses import dataclass, field

from identity.access.dpop.proofs import DpopProofs, PresentedProof
from identity.access.tokens.active import ActiveToken, ActiveTokens
from identity.access.tokens.token_set import TokenSet
from identity.directory.user import User
from identity.foundation.errors import InsufficientScope, InvalidDpopProof, InvalidToken
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import TokenType
from server.platform.mutual_tls import thumbprint_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentedToken:
    """`certificate` is that of the connection, in DER, empty without one."""

    access_token: str = field(repr=False)
    is_dpop: bool
    proof: PresentedProof | None
    certificate: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Bearer:
    """A valid access token of a user."""

    token: ActiveToken
    user: User
    token_set: TokenSet


class PresentedTokens:
    def __init__(self, tokens: ActiveTokens, proofs: DpopProofs) -> None:
        self._tokens = tokens
        self._proofs = proofs

    async def person(self, tenant: Tenant, presented: PresentedToken) -> Bearer:
        """Return the token with its user.

        Raises InvalidToken, InvalidDpopProof, UseDpopNonce, and InsufficientScope for a client's own token.
        """
        token = await self._tokens.find(presented.access_token, tenant)
        is_bound = token.claims.typ is TokenType.DPOP
        # RFC 9449 §7.1: a token that is bound to a key must not be presented as a bearer token.
        if is_bound != presented.is_dpop:
            raise InvalidToken("the token was presented with the wrong scheme")
        if is_bound:
            await self._check_proof(tenant, presented, token)
        _check_certificate(presented, token.claims.cnf.certificate)
        if token.user is None or token.token_set is None:
            raise InsufficientScope("the token belongs to no user")
        return Bearer(token, token.user, token.token_set)

    async def _check_proof(self, tenant: Tenant, presented: PresentedToken, token: ActiveToken) -> None:
        if presented.proof is None:
            raise InvalidDpopProof("a DPoP proof is needed")
        jkt = await self._proofs.thumbprint(
            tenant,
            presented.proof,
            access_token=presented.access_token,
            algorithms=token.client.accepted_algorithms,
        )
        if not hmac.compare_digest(jkt, token.claims.cnf.jkt):
            raise InvalidDpopProof("the proof is of another key")


def _check_certificate(presented: PresentedToken, bound_to: str) -> None:
    thumbprint = thumbprint_of(presented.certificate)
    if bound_to and not hmac.compare_digest(thumbprint.encode(), bound_to.encode()):
        raise InvalidToken("the token is bound to another client certificate")
