"""/clients_dyn: dynamic client registration, RFC 7591, and its management, RFC 7592."""

from collections.abc import Awaitable
from typing import TypeVar

import grpc
import msgspec
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import segment, written
from edge.oidc.access.bearer import refused_to_bearer
from edge.oidc.access.body import JSON, read_body
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.documents import Members
from edge.oidc.access.refusal import Refused, invalid_client_metadata, refused_by_protocol
from edge.oidc.access.tenant import tenant_of
from edge.oidc.clients.registration_body import Registration, RegistrationBody, metadata_members, metadata_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, done
from edge.oidc.openapi.schemas import answer_of
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import dynamic_client_service_pb2 as pb
from server.platform.channels import error_of
from server.platform.errors import InvalidArgument, OAuthError, ServiceError
from server.platform.json_members import RepeatedMember, expect_unique_members

_MAX_TOKEN = 2048

_Answer = TypeVar("_Answer")


class ClientRegistrationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._clients = stubs.dynamic_clients
        self._timeout = config.call_timeout_seconds
        self._max_bytes = config.max_form_bytes
        self._browsers = browsers

    @described(
        "Registers a client: RFC 7591.",
        content(answer_of(RegistrationBody), status=201),
        caller=Caller.REGISTERED_CLIENT,
        body=RegistrationBody,
    )
    async def create(self, request: web.Request) -> web.Response:
        asked = pb.RegisterClientRequest(
            tenant_id=tenant_of(request),
            token=_bearer(request),
            peer_address=self._browsers.peer_address(request),
            metadata=metadata_of(await self._body(request)),
        )
        answer = await _answered(self._clients.RegisterClient(asked, timeout=self._timeout))
        return written(members(answer.registration), status=201)

    @described(
        "A registered client: RFC 7592 §2.1.",
        content(answer_of(RegistrationBody)),
        caller=Caller.REGISTERED_CLIENT,
    )
    async def get(self, request: web.Request) -> web.Response:
        asked = pb.GetRegistrationRequest(
            tenant_id=tenant_of(request), client_id=segment(request, "id"), token=_bearer(request)
        )
        answer = await _answered(self._clients.GetRegistration(asked, timeout=self._timeout))
        return written(members(answer.registration))

    @described(
        "Replaces the metadata of a registered client: RFC 7592 §2.2.",
        content(answer_of(RegistrationBody)),
        caller=Caller.REGISTERED_CLIENT,
        body=RegistrationBody,
    )
    async def update(self, request: web.Request) -> web.Response:
        client_id, sent = segment(request, "id"), await self._body(request)
        if sent.client_id not in (None, client_id):
            raise invalid_client_metadata("client_id: expected that of the address")
        asked = pb.UpdateRegistrationRequest(
            tenant_id=tenant_of(request),
            client_id=client_id,
            token=_bearer(request),
            peer_address=self._browsers.peer_address(request),
            client_secret=sent.client_secret or "",
            metadata=metadata_of(sent),
        )
        answer = await _answered(self._clients.UpdateRegistration(asked, timeout=self._timeout))
        return written(members(answer.registration))

    @described("Deletes a registered client: RFC 7592 §2.3.", done(204), caller=Caller.REGISTERED_CLIENT)
    async def delete(self, request: web.Request) -> web.Response:
        asked = pb.DeleteRegistrationRequest(
            tenant_id=tenant_of(request),
            client_id=segment(request, "id"),
            token=_bearer(request),
            peer_address=self._browsers.peer_address(request),
        )
        await _answered(self._clients.DeleteRegistration(asked, timeout=self._timeout))
        return web.Response(status=204)

    async def _body(self, request: web.Request) -> Registration:
        if request.content_type != JSON:
            raise invalid_client_metadata(f"the body must be {JSON}")
        try:
            body = await read_body(request, self._max_bytes)
            found = msgspec.json.decode(body, type=RegistrationBody)
            expect_unique_members(body)
        except RepeatedMember as error:
            raise invalid_client_metadata(str(error)) from error
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            raise invalid_client_metadata(
                "expected an object of client metadata, found another type"
            ) from error
        return found


async def _answered(call: Awaitable[_Answer]) -> _Answer:
    """Raises Refused."""
    try:
        return await call
    except grpc.RpcError as failure:
        raise _refused(error_of(failure)) from failure


def members(registration: pb.ClientRegistration) -> Members:
    """Return what is registered, without empty members: RFC 7591 §3.2.1."""
    secret = registration.client_secret
    return {
        "client_id": registration.client_id,
        "client_id_issued_at": registration.client_id_issued_at,
        "registration_client_uri": registration.registration_client_uri,
        **({"client_secret": secret, "client_secret_expires_at": 0} if secret else {}),
        **_if_any("registration_access_token", registration.registration_access_token),
        **metadata_members(registration.metadata),
    }


def _if_any(name: str, value: str) -> dict[str, str]:
    return {name: value} if value else {}


def _bearer(request: web.Request) -> str:
    """Return the token of the Authorization header, empty for a missing or malformed one."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    is_token = scheme.lower() == "bearer" and token.isascii() and len(token) <= _MAX_TOKEN
    return token.strip() if is_token else ""


def _refused(error: ServiceError) -> Refused:
    """RFC 7591 §3.2.2, RFC 7592 §2: map errors about the metadata and about the token."""
    if isinstance(error, InvalidArgument):
        return invalid_client_metadata(error.detail)
    is_of_token = isinstance(error, OAuthError) and error.error == "invalid_token"
    return refused_to_bearer(error, is_dpop=False) if is_of_token else refused_by_protocol(error)
