"""ClientService."""

from collections.abc import Iterable
from datetime import timedelta

from gnomon.identity.v1 import client_service_pb2 as pb
from identity.access.callers import AdministrationArea, Callers, Right
from identity.clients.administration import ClientAdministration, NewClient
from identity.clients.changes import ClientChange
from identity.clients.rpc.certificate_names import certificate_name_of, fields_of
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.directory.client import Client
from identity.foundation.tenants import Tenants
from identity.foundation.vocabulary import (
    AccessTokenTyp,
    AuthenticationMethod,
    ConsentMode,
    GrantType,
    SecurityProfile,
    SubjectType,
)
from server.platform.call import Call
from server.platform.errors import InvalidArgument

_S256 = "S256"


class ClientServicer:
    def __init__(self, tenants: Tenants, callers: Callers, administration: ClientAdministration) -> None:
        self._tenants = tenants
        self._callers = callers
        self._administration = administration

    async def list_clients(self, request: pb.ListClientsRequest, _call: Call) -> pb.ListClientsResponse:
        tenant = self._tenants.find(request.tenant_id)
        await self._callers.expect(tenant, request.caller, AdministrationArea.CLIENTS, Right.READ)
        return pb.ListClientsResponse(clients=map(_client, await self._administration.all(tenant)))

    async def get_client(self, request: pb.GetClientRequest, _call: Call) -> pb.GetClientResponse:
        tenant = self._tenants.find(request.tenant_id)
        await self._callers.expect(tenant, request.caller, AdministrationArea.CLIENTS, Right.READ)
        return pb.GetClientResponse(client=_client(await self._administration.find(tenant, request.id)))

    async def create_client(self, request: pb.CreateClientRequest, _call: Call) -> pb.CreateClientResponse:
        tenant = self._tenants.find(request.tenant_id)
        actor = await self._callers.expect(tenant, request.caller, AdministrationArea.CLIENTS, Right.CREATE)
        new = NewClient(
            id=request.id,
            name=request.name,
            is_confidential=request.confidential,
            redirect_uris=_distinct(request.redirect_uris),
            post_logout_redirect_uris=_distinct(request.post_logout_redirect_uris),
        )
        client, secret = await self._administration.create(tenant, new, actor=actor)
        return pb.CreateClientResponse(client=_client(client), client_secret=secret)

    async def update_client(self, request: pb.UpdateClientRequest, _call: Call) -> pb.UpdateClientResponse:
        tenant = self._tenants.find(request.tenant_id)
        actor = await self._callers.expect(tenant, request.caller, AdministrationArea.CLIENTS, Right.UPDATE)
        change = _change(request.client)
        if change.gives_credentials(await self._administration.find(tenant, change.id)):
            # New credentials give the caller the client's permissions, so this needs the right to secrets.
            await self._callers.expect(tenant, request.caller, AdministrationArea.SECRETS, Right.UPDATE)
        client, secret = await self._administration.change(tenant, change, actor=actor)
        return pb.UpdateClientResponse(client=_client(client), client_secret=secret)

    async def delete_client(self, request: pb.DeleteClientRequest, _call: Call) -> pb.DeleteClientResponse:
        tenant = self._tenants.find(request.tenant_id)
        actor = await self._callers.expect(tenant, request.caller, AdministrationArea.CLIENTS, Right.DELETE)
        await self._administration.delete(tenant, request.id, actor=actor)
        return pb.DeleteClientResponse()

    async def rotate_client_secret(
        self, request: pb.RotateClientSecretRequest, _call: Call
    ) -> pb.RotateClientSecretResponse:
        tenant = self._tenants.find(request.tenant_id)
        actor = await self._callers.expect(tenant, request.caller, AdministrationArea.SECRETS, Right.UPDATE)
        grace = timedelta(hours=request.cache_current_hours)
        secret = await self._administration.rotate_secret(tenant, request.id, grace=grace, actor=actor)
        return pb.RotateClientSecretResponse(client_secret=secret)


def _change(message: pb.Client) -> ClientChange:
    """Raises InvalidArgument for an algorithm, a flow or a mode of consent that does not exist."""
    return ClientChange(
        id=message.id,
        name=message.name,
        is_enabled=message.enabled,
        is_confidential=message.confidential,
        redirect_uris=_distinct(message.redirect_uris),
        post_logout_redirect_uris=_distinct(message.post_logout_redirect_uris),
        allowed_origins=_distinct(message.allowed_origins),
        grant_types=_grant_types(message.flows_enabled),
        access_token_signed_response_alg=_algorithm(
            "access_token_signed_response_alg", message.access_token_signed_response_alg
        ),
        id_token_signed_response_alg=_algorithm(
            "id_token_signed_response_alg", message.id_token_signed_response_alg
        ),
        authorization_code_lifetime=timedelta(seconds=message.auth_code_lifetime),
        access_token_lifetime=timedelta(seconds=message.access_token_lifetime),
        oauth_scopes=_distinct(message.scopes),
        default_scopes=_distinct(message.default_scopes),
        requires_pkce=_S256 in message.challenges,
        requires_mfa=message.force_mfa,
        client_uri=message.client_uri,
        contacts=_distinct(message.contacts),
        backchannel_logout_uri=message.backchannel_logout_uri,
        restrict_group_prefix=message.restrict_group_prefix,
        allowed_resources=_distinct(message.allowed_resources),
        default_aud=_distinct(message.default_aud),
        claims=message.claims,
        claims_at_root=message.claims_at_root,
        consent=_consent(message.consent),
        jwks=message.jwks,
        jwks_uri=message.jwks_uri,
        token_endpoint_auth_method=_method(message.token_endpoint_auth_method),
        token_endpoint_auth_signing_alg=message.token_endpoint_auth_signing_alg,
        request_object_signing_alg=message.request_object_signing_alg,
        requires_signed_request=message.require_signed_request_object,
        request_uris=_distinct(message.request_uris),
        userinfo_signed_response_alg=_optional_algorithm(
            "userinfo_signed_response_alg", message.userinfo_signed_response_alg
        ),
        access_token_typ=_typ(message.access_token_typ),
        requires_pushed_request=message.require_pushed_authorization_requests,
        requires_dpop=message.dpop_bound_access_tokens,
        may_act=_distinct(message.may_act),
        assertion_providers=_distinct(message.assertion_providers),
        introspection_signed_response_alg=_algorithm(
            "introspection_signed_response_alg",
            message.introspection_signed_response_alg or SigningAlgorithm.RS256,
        ),
        subject_type=_subject_type(message.subject_type),
        sector_identifier_uri=message.sector_identifier_uri,
        frontchannel_logout_uri=message.frontchannel_logout_uri,
        frontchannel_logout_session_required=message.frontchannel_logout_session_required,
        certificate_name=certificate_name_of(message),
        requires_certificate=message.tls_client_certificate_bound_access_tokens,
        security_profile=SecurityProfile(message.security_profile or SecurityProfile.NONE),
        policy_uri=message.policy_uri,
        tos_uri=message.tos_uri,
        has_fed_cm=message.fed_cm,
    )


def _grant_types(names: Iterable[str]) -> frozenset[GrantType]:
    try:
        return frozenset(map(GrantType, names))
    except ValueError as error:
        raise InvalidArgument(f"flows_enabled: expected some of {', '.join(GrantType)}") from error


def _algorithm(member: str, name: str) -> SigningAlgorithm:
    try:
        return SigningAlgorithm(name)
    except ValueError as error:
        raise InvalidArgument(f"{member}: expected one of {', '.join(SigningAlgorithm)}") from error


def _optional_algorithm(member: str, name: str) -> SigningAlgorithm | None:
    return _algorithm(member, name) if name else None


def _typ(name: str) -> AccessTokenTyp:
    try:
        return AccessTokenTyp(name) if name else AccessTokenTyp.JWT
    except ValueError as error:
        raise InvalidArgument(f"access_token_typ: expected one of {', '.join(AccessTokenTyp)}") from error


def _subject_type(name: str) -> SubjectType:
    try:
        return SubjectType(name) if name else SubjectType.PUBLIC
    except ValueError as error:
        raise InvalidArgument(f"subject_type: expected one of {', '.join(SubjectType)}") from error


def _consent(name: str) -> ConsentMode:
    try:
        return ConsentMode(name)
    except ValueError as error:
        raise InvalidArgument(f"consent: expected one of {', '.join(ConsentMode)}") from error


def _method(name: str) -> AuthenticationMethod | None:
    try:
        return AuthenticationMethod(name) if name else None
    except ValueError as error:
        known = ", ".join(AuthenticationMethod)
        raise InvalidArgument(f"token_endpoint_auth_method: expected one of {known}") from error


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _client(client: Client) -> pb.Client:
    return pb.Client(
        id=client.id,
        name=client.name,
        enabled=client.is_enabled,
        confidential=not client.is_public,
        redirect_uris=client.redirect_uris,
        post_logout_redirect_uris=client.post_logout_redirect_uris,
        allowed_origins=client.allowed_origins,
        flows_enabled=sorted(client.grant_types),
        access_token_signed_response_alg=client.access_token_signed_response_alg,
        id_token_signed_response_alg=client.id_token_signed_response_alg,
        auth_code_lifetime=int(client.authorization_code_lifetime.total_seconds()),
        access_token_lifetime=int(client.access_token_lifetime.total_seconds()),
        scopes=client.oauth_scopes,
        default_scopes=client.default_scopes,
        challenges=(_S256,) if client.requires_pkce else (),
        force_mfa=client.requires_mfa,
        client_uri=client.client_uri,
        contacts=client.contacts,
        backchannel_logout_uri=client.backchannel_logout_uri,
        restrict_group_prefix=client.restrict_group_prefix,
        allowed_resources=client.allowed_resources,
        default_aud=client.default_aud,
        claims=client.claims,
        claims_at_root=client.claims_at_root,
        consent=client.consent,
        jwks=client.jwks,
        jwks_uri=client.jwks_uri,
        token_endpoint_auth_method=client.token_endpoint_auth_method,
        token_endpoint_auth_signing_alg=client.token_endpoint_auth_signing_alg,
        request_object_signing_alg=client.request_object_signing_alg,
        require_signed_request_object=client.requires_signed_request,
        request_uris=client.request_uris,
        userinfo_signed_response_alg=client.userinfo_signed_response_alg or "",
        access_token_typ=client.access_token_typ,
        require_pushed_authorization_requests=client.requires_pushed_request,
        dpop_bound_access_tokens=client.requires_dpop,
        may_act=client.may_act,
        assertion_providers=client.assertion_providers,
        introspection_signed_response_alg=client.introspection_signed_response_alg,
        subject_type=client.subject_type,
        sector_identifier_uri=client.sector_identifier_uri,
        frontchannel_logout_uri=client.frontchannel_logout_uri,
        frontchannel_logout_session_required=client.frontchannel_logout_session_required,
        tls_client_certificate_bound_access_tokens=client.requires_certificate,
        security_profile=client.security_profile,
        **fields_of(client.certificate_name),
        policy_uri=client.policy_uri,
        tos_uri=client.tos_uri,
        fed_cm=client.has_fed_cm,
    )
