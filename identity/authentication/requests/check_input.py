"""The input of a check of an authorization request."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.client import Client
from identity.foundation.tenants import Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    tenant: Tenant
    client: Client
    parameters: Parameters
    now: datetime


# Returns the request with the validated values added; raises a ProtocolError.
Check = Callable[[Asking, AuthorizationRequest], AuthorizationRequest]
