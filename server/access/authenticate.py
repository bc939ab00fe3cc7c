"""The interceptor that finds out who calls: by a token (RFC 6750 §2.1), else by the session of a browser.

A token that was admitted is not looked at again for a few seconds, so a hot call costs one look-up; once the directory
has changed, its principal is asked for again. A principal may do what the directory gives it, as far as the token's
scopes go, in the tenant that the token is bound to, if any. A session is looked up at each call, so that it ends at once.

Authorizations are no scopes. They count for sessions and for tokens that a client got in its own name without asking for
certain scopes, whenever they were given; for every other token as far as its scopes have the operation's permission.
"""

import hmac
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import grpc

from gnomon.identity.v1 import directory_service_pb2 as pb
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from server.access.claims import AccessTokenClaims
from server.access.config import AccessConfig
from server.access.key_sets import KeySets
from server.access.lru import Lru
from server.access.presented_sessions import presented
from server.access.verifier import TokenVerifier, VerifiedToken
from server.platform.call import ANONYMOUS, AUTHORIZATION, Call, Grant, Principal, TenantId
from server.platform.channels import Channel, error_of
from server.platform.clock import Clock
from server.platform.errors import NotFound, Unauthenticated
from server.platform.mutual_tls import certificate_of, thumbprint_of

if TYPE_CHECKING:
    from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceAsyncStub


@dataclass(frozen=True, slots=True)
class _Admission:
    """`number` is that of the directory's changes before it was asked for."""

    token: VerifiedToken
    valid_until: datetime
    principal: Principal
    number: int


class Authenticator:
    """Sets the principal of calls that need one and have none; `channel` leads to the provider."""

    def __init__(self, channel: Channel, config: AccessConfig, clock: Clock) -> None:
        self._directory: DirectoryServiceAsyncStub = DirectoryServiceStub(cast("grpc.aio.Channel", channel))
        self._verifier = TokenVerifier(KeySets(channel, config, clock), config, clock)
        self._config = config
        self._clock = clock
        self._admissions = Lru[str, _Admission](config.max_admissions)
        self._number = 0

    def __call__(self, call: Call) -> Awaitable[None] | None:
        if not call.policy.needs_principal or call.principal is not ANONYMOUS:
            return None
        credential = call.metadata.get(AUTHORIZATION, "")
        if not credential and (question := presented(call)) is not None:
            return self._admit_signed_in(call, question)
        admission = self._admissions.get(credential)
        if admission is None or admission.valid_until <= self._clock.now():
            return self._admit(call, credential)
        _expect_certificate(call, admission.token.claims)
        if admission.number != self._number:
            return self._renew(call, credential, admission)
        call.principal = admission.principal
        return None

    def invalidate(self) -> None:
        """Ask again who may do what, as the directory has changed."""
        self._number += 1

    async def _admit(self, call: Call, credential: str) -> None:
        token = await self._verifier.verify(_bearer_token(credential))
        _expect_certificate(call, token.claims)
        await self._let_in(call, credential, token, self._valid_until(token.claims))

    async def _admit_signed_in(self, call: Call, question: pb.GetSignedInPrincipalRequest) -> None:
        try:
            response = await self._directory.GetSignedInPrincipal(
                question, timeout=self._config.call_timeout_seconds
            )
        except grpc.RpcError as failure:
            raise error_of(failure) from failure
        principal = response.principal
        call.principal = _principal(principal, principal.tenant_ids, principal.permissions, None)

    async def _renew(self, call: Call, credential: str, admission: _Admission) -> None:
        await self._let_in(call, credential, admission.token, admission.valid_until)

    async def _let_in(self, call: Call, credential: str, token: VerifiedToken, until: datetime) -> None:
        # An answer that comes while the directory changes may be outdated.
        number = self._number
        call.principal = _narrowed(await self._principal(token), token.claims)
        self._admissions.put(credential, _Admission(token, until, call.principal, number))

    async def _principal(self, token: VerifiedToken) -> pb.Principal:
        claims = token.claims
        request = pb.GetPrincipalRequest(subject=claims.sub, issuer=claims.iss, claims=token.payload)
        try:
            response = await self._directory.GetPrincipal(request, timeout=self._config.call_timeout_seconds)
        except grpc.RpcError as failure:
            error = error_of(failure)
            if isinstance(error, NotFound):
                raise Unauthenticated(
                    "the token's issuer or subject does not exist or is disabled"
                ) from failure
            raise error from failure
        return response.principal

    def _valid_until(self, claims: AccessTokenClaims) -> datetime:
        expires_at = datetime.fromtimestamp(claims.exp + self._config.leeway_seconds, UTC)
        return min(expires_at, self._clock.now() + timedelta(seconds=self._config.admission_seconds))


def _bearer_token(credential: str) -> str:
    scheme, _, token = credential.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("expected authorization: Bearer with an access token")
    return token


def _expect_certificate(call: Call, claims: AccessTokenClaims) -> None:
    """RFC 8705 §3: a token that is bound to a certificate counts on connections with this certificate alone."""
    bound_to = claims.cnf.certificate
    if bound_to and not hmac.compare_digest(thumbprint_of(certificate_of(call)).encode(), bound_to.encode()):
        raise Unauthenticated("the token is bound to another client certificate")


def _narrowed(principal: pb.Principal, claims: AccessTokenClaims) -> Principal:
    bound = {claims.tid} if claims.tid else principal.tenant_ids
    scopes = frozenset(claims.scope.split())
    is_whole = principal.kind == pb.PRINCIPAL_KIND_CLIENT and not claims.narrowed
    return _principal(
        principal,
        frozenset(principal.tenant_ids).intersection(bound),
        scopes.intersection(principal.permissions),
        None if is_whole else scopes,
    )


def _principal(
    principal: pb.Principal,
    tenant_ids: Iterable[str],
    permissions: Iterable[str],
    oauth_scopes: frozenset[str] | None,
) -> Principal:
    return Principal(
        principal.subject,
        frozenset(map(TenantId, tenant_ids)),
        frozenset(permissions),
        is_person=principal.kind == pb.PRINCIPAL_KIND_USER,
        issuing_tenant_id=TenantId(principal.issuing_tenant_id),
        grants=frozenset(
            Grant(each.resource_type, permission_type, each.resource_id)
            for each in principal.grants
            for permission_type in each.permission_types
        ),
        oauth_scopes=oauth_scopes,
    )
