"""The interceptor that authenticates callers: by an access token (RFC 6750 §2.1), else by the browser's session.

An admitted token is cached for several seconds, so that frequent calls cost one look-up. The directory decides
whether the token is still valid. After a change of the directory, or a revocation, the admissions that it affects
are requested again. Concurrent calls with one token share a look-up, and the next look-up is made before the
cached one expires. A principal has the directory's permissions, limited to the
token's scopes and to the tenant that the token is bound to, if any. A session is looked up at each call, so
that sign-out takes effect at once.

A token that is bound to a key (RFC 9449) needs a proof of the key at each call. The provider checks it,
because each proof may be used only once across all processes.

Authorizations are independent of scopes. They count for sessions, and for tokens that a client obtained in
its own name without requesting certain scopes. For every other token, an authorization counts if the token's
scopes include the operation's permission.
"""

import hmac
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import grpc

from gnomon.identity.v1 import directory_service_pb2 as pb
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from gnomon.identity.v1.token_service_pb2 import DpopProof
from server.access.claims import AccessTokenClaims
from server.access.config import AccessConfig
from server.access.key_sets import KeySets
from server.access.lru import Lru
from server.access.presented_sessions import presented
from server.access.shared_lookups import SharedLookups
from server.access.verifier import TokenVerifier, VerifiedToken
from server.platform.call import ANONYMOUS, AUTHORIZATION, Call, Grant, Principal, TenantId
from server.platform.channels import Channel, error_of
from server.platform.clock import Clock
from server.platform.dpop import ERROR, NONCE, proof_of
from server.platform.errors import (
    DeadlineExceeded,
    NotFound,
    OAuthError,
    TenantMismatch,
    Unauthenticated,
    Unavailable,
)
from server.platform.interceptors import check_permission, select_tenant
from server.platform.mutual_tls import certificate_of, thumbprint_of

if TYPE_CHECKING:
    from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceAsyncStub


# The part of an admission's time after which a call renews it.
_RENEWED_FROM = 0.9
_DPOP = "dpop "
# Types of tokens by the schemes of their credentials, in lower case.
_TYPES = {"bearer": "Bearer", "dpop": "DPoP"}
_INVALID_PROOF = "invalid_dpop_proof"
# The number of an admission that a change affects, which is less than all numbers.
OUTDATED = -1


@dataclass(frozen=True, slots=True)
class _Admission:
    """A cached token; `number` counts the changes of the whole directory before the principal was requested.

    It is OUTDATED after a change that affects the principal. From `renewed_from` on, which is before `valid_until`, a
    call renews it.
    """

    token: VerifiedToken
    renewed_from: datetime
    valid_until: datetime
    principal: Principal
    number: int


class Authenticator:
    """Sets the principal of calls that need one; `channel` leads to the provider."""

    def __init__(self, channel: Channel, config: AccessConfig, clock: Clock) -> None:
        self._directory: DirectoryServiceAsyncStub = DirectoryServiceStub(cast("grpc.aio.Channel", channel))
        self._verifier = TokenVerifier(KeySets(channel, config, clock), config, clock)
        self._config = config
        self._clock = clock
        self._admissions = Lru[str, _Admission](config.max_admissions)
        self._lookups = SharedLookups[str, _Admission]()
        self._number = 0
        # Ids that changed since a running request for a principal began, one set for each request.
        self._changed_meanwhile: list[set[str]] = []

    def __call__(self, call: Call) -> Awaitable[None] | None:
        if not call.policy.needs_principal or call.principal is not ANONYMOUS:
            return None
        credential = call.metadata.get(AUTHORIZATION, "")
        if not credential and (question := presented(call)) is not None:
            return self._admit_signed_in(call, question)
        if credential[: len(_DPOP)].lower() == _DPOP:
            return self._admit_proved(call, credential)
        admission = self._fresh(credential)
        if admission is None or admission.number != self._number:
            return self._admit(call, credential)
        _expect_certificate(call, admission.token.claims)
        call.principal = admission.principal
        return self._renewal(call, credential, admission)

    def _renewal(self, call: Call, credential: str, admission: _Admission) -> Awaitable[None] | None:
        """Renew an admission shortly before it expires, by one call, so that others need not wait for the directory."""
        if self._clock.now() < admission.renewed_from or credential in self._lookups:
            return None
        return self._renew(call, credential)

    async def _renew(self, call: Call, credential: str) -> None:
        """Renew an admission; the call is already admitted, so it succeeds even if the directory does not respond."""
        with suppress(Unavailable, DeadlineExceeded):
            call.principal = (await self._lookups.of(credential, self._asked)).principal

    async def readmit(self, call: Call) -> None:
        """Check an open call again, which was admitted earlier; raises ServiceError if it may not be made any more.

        The proof of a key that came with the call still counts.
        """
        again = Call(call.policy, call.request, call.metadata, peer=call.peer)
        credential = call.metadata.get(AUTHORIZATION, "")
        if not credential and (question := presented(again)) is not None:
            await self._admit_signed_in(again, question)
        else:
            again.principal = (await self._current(credential)).principal
        select_tenant(again)
        if again.tenant_id != call.tenant_id:
            raise TenantMismatch(f"the caller may not act in tenant '{call.tenant_id}' any more")
        check_permission(again)
        call.principal = again.principal

    async def _current(self, credential: str) -> _Admission:
        """Return an admission that no known change affects."""
        number, admission = self._number, self._fresh(credential)
        while admission is None or admission.number < number:
            # A running look-up may have begun before a change of the directory that this call has to see.
            admission = await self._lookups.of(credential, self._asked)
        return admission

    def invalidate(self, ids: frozenset[str] = frozenset()) -> None:
        """Request the principals again that depend on one of these ids, or all if there are none."""
        if not ids:
            self._number += 1
            return
        outdated = [
            (credential, admission)
            for credential, admission in self._admissions.items
            if not ids.isdisjoint(admission.principal.depends_on)
        ]
        for credential, admission in outdated:
            self._admissions.put(credential, replace(admission, number=OUTDATED))
        for changed in self._changed_meanwhile:
            changed.update(ids)

    def _fresh(self, credential: str) -> _Admission | None:
        admission = self._admissions.get(credential)
        return None if admission is None or admission.valid_until <= self._clock.now() else admission

    async def _admit_proved(self, call: Call, credential: str) -> None:
        """Admit a DPoP token; each call needs a proof, even for a cached token (RFC 9449 §7.1)."""
        text, admission = credential[len(_DPOP) :].strip(), self._fresh(credential)
        token = await self._verifier.verify(text, typ="DPoP") if admission is None else admission.token
        await self._expect_key(call, text, token.claims)
        _expect_certificate(call, token.claims)
        if admission is None or admission.number != self._number:
            until = self._valid_until(token.claims) if admission is None else admission.valid_until
            admission = await self._let_in(credential, token, until)
        call.principal = admission.principal

    async def _expect_key(self, call: Call, text: str, claims: AccessTokenClaims) -> None:
        """Raise Unauthenticated unless the call has a new proof of the key that the token is bound to."""
        carried = proof_of(call)
        if carried is None:
            raise Unauthenticated("expected a DPoP proof, over HTTP", **{ERROR: _INVALID_PROOF})
        proof = DpopProof(proof=carried.proof, http_method=carried.http_method, path=carried.path)
        request = pb.CheckDpopProofRequest(issuer=claims.iss, access_token=text, dpop=proof)
        try:
            proved = await self._directory.CheckDpopProof(request, timeout=self._config.call_timeout_seconds)
        except grpc.RpcError as failure:
            error = error_of(failure)
            if not isinstance(error, OAuthError):
                raise error from failure
            nonce = {NONCE: error.metadata["nonce"]} if "nonce" in error.metadata else {}
            raise Unauthenticated(error.detail, **{ERROR: error.error}, **nonce) from failure
        if not claims.cnf.jkt or not hmac.compare_digest(proved.jkt.encode(), claims.cnf.jkt.encode()):
            raise Unauthenticated("the token is bound to another key", **{ERROR: _INVALID_PROOF})

    async def _admit(self, call: Call, credential: str) -> None:
        admission = await self._current(credential)
        _expect_certificate(call, admission.token.claims)
        call.principal = admission.principal

    async def _asked(self, credential: str) -> _Admission:
        """A token that was verified a moment ago is not verified again, and its admission lasts no longer."""
        known = self._fresh(credential)
        if known is not None and self._clock.now() < known.renewed_from:
            return await self._let_in(credential, known.token, known.valid_until)
        scheme, text = _parts(credential)
        token = await self._verifier.verify(text, typ=scheme)
        return await self._let_in(credential, token, self._valid_until(token.claims))

    async def _admit_signed_in(self, call: Call, question: pb.GetSignedInPrincipalRequest) -> None:
        try:
            response = await self._directory.GetSignedInPrincipal(
                question, timeout=self._config.call_timeout_seconds
            )
        except grpc.RpcError as failure:
            raise error_of(failure) from failure
        principal = response.principal
        call.principal = _principal(principal, principal.tenant_ids, principal.permissions, None, None)

    async def _let_in(self, credential: str, token: VerifiedToken, until: datetime) -> _Admission:
        # If the directory changes meanwhile, the response may be outdated.
        number, now = self._number, self._clock.now()
        changed: set[str] = set()
        self._changed_meanwhile.append(changed)
        try:
            principal = _narrowed(await self._principal(token), token.claims, self._expiry(token.claims))
        finally:
            self._changed_meanwhile.remove(changed)
        if not changed.isdisjoint(principal.depends_on):
            number = OUTDATED
        admission = _Admission(token, now + (until - now) * _RENEWED_FROM, until, principal, number)
        self._admissions.put(credential, admission)
        return admission

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
        most = timedelta(seconds=self._config.admission_seconds)
        return min(self._expiry(claims), self._clock.now() + most)

    def _expiry(self, claims: AccessTokenClaims) -> datetime:
        return datetime.fromtimestamp(claims.exp + self._config.leeway_seconds, UTC)


def _parts(credential: str) -> tuple[str, str]:
    """Return the type of a token, and the token; raises Unauthenticated."""
    scheme, _, token = credential.partition(" ")
    typ = _TYPES.get(scheme.lower(), "")
    if not typ or not token:
        raise Unauthenticated("expected authorization: Bearer with an access token")
    return typ, token.strip() if typ == "DPoP" else token


def _expect_certificate(call: Call, claims: AccessTokenClaims) -> None:
    """Require the client certificate that the token is bound to, if any (RFC 8705 §3)."""
    bound_to = claims.cnf.certificate
    if bound_to and not hmac.compare_digest(thumbprint_of(certificate_of(call)).encode(), bound_to.encode()):
        raise Unauthenticated("the token is bound to another client certificate")


def _narrowed(principal: pb.Principal, claims: AccessTokenClaims, expires_at: datetime) -> Principal:
    bound = {claims.tid} if claims.tid else principal.tenant_ids
    scopes = frozenset(claims.scope.split())
    is_whole = principal.kind == pb.PRINCIPAL_KIND_CLIENT and not claims.narrowed
    return _principal(
        principal,
        frozenset(principal.tenant_ids).intersection(bound),
        scopes.intersection(principal.permissions),
        None if is_whole else scopes,
        expires_at,
    )


def _principal(
    principal: pb.Principal,
    tenant_ids: Iterable[str],
    permissions: Iterable[str],
    oauth_scopes: frozenset[str] | None,
    expires_at: datetime | None,
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
        acting=principal.acting,
        depends_on=frozenset(principal.depends_on),
        expires_at=expires_at,
    )
