"""Audiences of assertions: RFC 7523 §3, as OpenID Foundation and IETF narrowed it in 2025."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAuthenticationConfig:
    """[client_authentication]: `legacy_audiences` also accepts assertions for an endpoint or for several audiences.

    Without it, the audience of a client assertion or a JWT bearer assertion is the issuer alone. Another provider that
    is among the audiences, or that announces endpoints of this one as its own, could present such an assertion here.
    """

    legacy_audiences: bool = False

    def accepts(self, audience: object, issuer: str, *, endpoints: Collection[str] = ()) -> bool:
        """Whether the claim `aud` is the issuer alone, as a string or a list of one.

        The endpoints, and further audiences, count with `legacy_audiences` only.
        """
        if not self.legacy_audiences:
            return audience in (issuer, [issuer])
        audiences = audience if isinstance(audience, list) else [audience]
        return any(named == issuer or named in endpoints for named in audiences if isinstance(named, str))


ISSUER_ALONE = ClientAuthenticationConfig()
