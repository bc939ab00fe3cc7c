"""Common JSON members of the sign-in steps: the authorization request that they continue.

The request is identified by the id in its page, or described again by a caller without a page.
"""

import msgspec

from edge.oidc.access.body import bad_request
from gnomon.identity.v1.browser_pb2 import Parameter


class SignInFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    authorization_id: str = ""
    client_id: str = ""
    redirect_uri: str = ""
    scopes: tuple[str, ...] | None = None
    state: str | None = None
    nonce: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str | None = None

    def parameters(self) -> tuple[Parameter, ...]:
        """Return parameters of the authorization request, none with an id; raises Refused."""
        if self.authorization_id:
            return ()
        if not (self.client_id and self.redirect_uri):
            raise bad_request("expected authorization_id, or client_id and redirect_uri")
        described = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": " ".join(self.scopes or ()),
            "state": self.state,
            "nonce": self.nonce,
            "code_challenge": self.code_challenge,
            "code_challenge_method": self.code_challenge_method,
        }
        return tuple(Parameter(name=name, value=value) for name, value in described.items() if value)


class Address(SignInFields, frozen=True, forbid_unknown_fields=True, kw_only=True):
    email: str
    pow: str


class Credentials(SignInFields, frozen=True, forbid_unknown_fields=True, kw_only=True):
    email: str
    pow: str
    password: str | None = None
    resource: str | None = None

    def parameters(self) -> tuple[Parameter, ...]:
        resource = (Parameter(name="resource", value=self.resource),) if self.resource else ()
        described = SignInFields.parameters(self)
        return (*described, *resource) if described else ()
