"""The administration API of the provider in this process, called with the session of a browser.

The services check session, CSRF token and permissions of the person for each call, as they do for programs.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import grpc
from aiohttp import hdrs, web
from google.protobuf.message import Message

from edge.oidc.config import OidcConfig
from edge.problem import REQUEST_ID
from gnomon.identity.v1 import browser_pb2
from gnomon.identity.v1 import caller_pb2 as pb
from server.platform import call as metadata_names
from server.platform.channels import Channel, error_of
from server.platform.policy import Policy, policies_of, services

_PACKAGE: Final = "gnomon.identity.v1."
_READING: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})


class Administration:
    def __init__(self, channel: Channel, config: OidcConfig) -> None:
        self._channel = channel
        self._config = config

    def caller(
        self, request: web.Request, tenant: str, browser: browser_pb2.Browser
    ) -> "AdministrationCaller":
        """Return the API for the person in a browser; a change needs the CSRF token of the session."""
        is_read = request.method in _READING
        return AdministrationCaller(
            self, tenant, pb.Caller(browser=browser, is_read=is_read), request[REQUEST_ID]
        )

    async def call(self, rpc: str, message: Message, request_id: str, *, is_read: bool) -> Message:
        policy = policy_named(rpc)
        call = self._channel.unary_unary(
            policy.path, policy.request.SerializeToString, policy.response.FromString
        )
        config = self._config
        timeout = config.call_timeout_seconds if is_read else config.long_call_timeout_seconds
        try:
            return await call(message, timeout=timeout, metadata=((metadata_names.REQUEST_ID, request_id),))
        except grpc.RpcError as failure:
            raise error_of(failure) from failure


class AdministrationCaller:
    """A person who calls the administration API about a tenant."""

    def __init__(self, api: Administration, tenant: str, caller: pb.Caller, request_id: str) -> None:
        self.tenant = tenant
        self._api = api
        self._caller = caller
        self._request_id = request_id

    def request(self, rpc: str) -> Any:
        """Return a new request of an RPC, with the tenant and the caller where it has them."""
        message: Any = policy_named(rpc).request()
        fields = message.DESCRIPTOR.fields_by_name
        if "tenant_id" in fields:
            message.tenant_id = self.tenant
        if "caller" in fields:
            message.caller.CopyFrom(self._caller)
        return message

    async def send(self, rpc: str, message: Message) -> Any:
        """Call an RPC; raises ServiceError."""
        return await self._api.call(rpc, message, self._request_id, is_read=self._caller.is_read)


def policy_named(rpc: str) -> Policy:
    """Return the policy of an RPC of the provider by the name of the RPC."""
    return _policies()[rpc]


@cache
def permissions() -> Sequence[str]:
    """Return the permissions that RPCs of the contract need."""
    policies = (policy for service in services() for policy in policies_of(service).values())
    return sorted({policy.permission for policy in policies if policy.permission})


@cache
def _policies() -> Mapping[str, Policy]:
    provided = (service for service in services() if service.full_name.startswith(_PACKAGE))
    return {policy.name: policy for service in provided for policy in policies_of(service).values()}
