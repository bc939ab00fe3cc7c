"""The input of a check of an authorization request."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from identity.authorization.parameters import Parameters
from identity.authorization.request import AuthorizationRequest
from identity.clients.client import Client
from identity.tenants import Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    tenant: Tenant
    client: Client
    parameters: Parameters
    now: datetime


# Returns the request with the validated values added; raises a ProtocolError.
Check = Callable[[Asking, AuthorizationRequest], AuthorizationRequest]
