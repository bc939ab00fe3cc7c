"""/fed_cm/… and /.well-known/web-identity: FedCM §3, requests that browsers make by themselves.

Pages cannot send `Sec-Fetch-Dest: webidentity`, which every response about a user or a client requires.
"""

import grpc
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import written
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.cross_origin import origin_of, readable
from edge.oidc.access.form import form_of, query_parameters, single
from edge.oidc.access.own_authorization import own_authorization
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, may, needs, redirect
from edge.oidc.openapi.schemas import STRING, STRINGS, an_object, array, choice
from edge.oidc.openapi.standards import ACCOUNT, CLIENT_METADATA
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import fed_cm_service_pb2 as pb
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataRequest
from gnomon.identity.v1.session_service_pb2 import GetSessionRequest
from server.platform.channels import error_of
from server.platform.errors import Unauthenticated

_UNAUTHORIZED = 401


class FedCmEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._stubs = stubs
        self._fed_cm = stubs.fed_cm
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers

    @described(
        "The providers of the domain: FedCM §3.1.",
        content(an_object(provider_urls=STRINGS, accounts_endpoint=STRING, login_url=STRING)),
        caller=Caller.ANYBODY,
    )
    async def web_identity(self, request: web.Request) -> web.Response:
        """Return the well-known file: a registrable domain has one provider, that of its own host."""
        found = await self._configuration(request)
        return written(
            {
                "provider_urls": [found.config_url],
                "accounts_endpoint": found.accounts_endpoint,
                "login_url": found.login_url,
            }
        )

    @described(
        "The addresses of the endpoints for browsers: FedCM §3.2.",
        content(
            an_object(
                accounts_endpoint=STRING,
                client_metadata_endpoint=STRING,
                id_assertion_endpoint=STRING,
                disconnect_endpoint=STRING,
                login_url=STRING,
            )
        ),
        caller=Caller.ANYBODY,
    )
    async def configuration(self, request: web.Request) -> web.Response:
        found = await self._configuration(request)
        return written(
            {
                "accounts_endpoint": found.accounts_endpoint,
                "client_metadata_endpoint": found.client_metadata_endpoint,
                "id_assertion_endpoint": found.id_assertion_endpoint,
                "disconnect_endpoint": found.disconnect_endpoint,
                "login_url": found.login_url,
            }
        )

    @described(
        "The account of the browser: FedCM §3.3.",
        content(an_object(accounts=array(ACCOUNT))),
        content(an_object(accounts=array(ACCOUNT)), status=401),
        caller=Caller.BROWSER,
    )
    async def accounts(self, request: web.Request) -> web.Response:
        status = self._browsers.login_status
        asked = pb.ListFedCmAccountsRequest(
            tenant_id=tenant_of(request),
            way=status.way(request),
            peer_address=self._browsers.peer_address(request),
        )
        try:
            found = await self._fed_cm.ListFedCmAccounts(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            if not isinstance(error_of(failure), Unauthenticated):
                raise
            return written({"accounts": []}, status=_UNAUTHORIZED, headers=status.signed_out(request))
        return written({"accounts": [_members(account) for account in found.accounts]})

    @described(
        "The policies of a client: FedCM §3.4.",
        content(CLIENT_METADATA),
        caller=Caller.ANYBODY,
        query=(needs("client_id", "The client."),),
    )
    async def client(self, request: web.Request) -> web.Response:
        origin = origin_of(request)
        asked = pb.GetFedCmClientRequest(
            tenant_id=tenant_of(request),
            client_id=single(form_of(query_parameters(request)), "client_id"),
            origin=origin,
        )
        found = await self._fed_cm.GetFedCmClient(asked, timeout=self._timeout)
        promised = {"privacy_policy_url": found.policy_uri, "terms_of_service_url": found.tos_uri}
        return readable(written({name: uri for name, uri in promised.items() if uri}), origin)

    @described(
        "Tells the browser again whether its user has signed in.",
        content(an_object(status=choice("logged-in", "logged-out"))),
        caller=Caller.ANYBODY,
    )
    async def status(self, request: web.Request) -> web.Response:
        """Set the login status again, in case the browser has lost it."""
        asked = GetSessionRequest(tenant_id=tenant_of(request), browser=self._browsers.of(request))
        try:
            found = await self._stubs.sessions.GetSession(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            if not isinstance(error_of(failure), Unauthenticated):
                raise
            return written({"status": "logged-out"}, headers=self._browsers.login_status.signed_out(request))
        response = written({"status": "logged-in"})
        self._browsers.login_status.tell(request, response, cookie=found.cookie)
        return response

    @described(
        "Leads to the sign-in, within the window that the browser opened.",
        redirect("The sign-in."),
        caller=Caller.ANYBODY,
        query=(may("login_hint", "The account."),),
    )
    async def login(self, request: web.Request) -> web.Response:
        """Sign in within the window that the browser opened."""
        hint = single(form_of(query_parameters(request)), "login_hint")
        asked = GetMetadataRequest(tenant_id=tenant_of(request))
        found = await self._stubs.discovery.GetMetadata(asked, timeout=self._timeout)
        hints = {"login_hint": hint} if hint else {}
        query = own_authorization(found.metadata.issuer, page="sign-in", **hints)
        return web.Response(
            status=302, headers={hdrs.LOCATION: f"{issuer_path(request)}/oidc/authorize?{query}"}
        )

    async def _configuration(self, request: web.Request) -> pb.GetFedCmConfigurationResponse:
        asked = pb.GetFedCmConfigurationRequest(tenant_id=tenant_of(request))
        return await self._fed_cm.GetFedCmConfiguration(asked, timeout=self._timeout)


def _members(account: pb.FedCmAccount) -> dict[str, object]:
    members = {
        "id": account.id,
        "name": account.name,
        "email": account.email,
        "given_name": account.given_name,
        "picture": account.picture,
    }
    return {
        **{name: text for name, text in members.items() if text},
        "approved_clients": list(account.approved_clients),
        "login_hints": list(account.login_hints),
        "domain_hints": list(account.domain_hints),
    }
