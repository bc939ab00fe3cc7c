"""Sign-in at a SAML provider whose responses a test writes."""

import base64
import zlib
from dataclasses import replace
from typing import Any

from lxml import etree
from lxml.etree import _Element as XmlElement

from identity.access.sessions.browser import Browser
from identity.access.sessions.session import SESSIONS, Session
from identity.authentication.federation.callback import StepUpRequest
from identity.authentication.federation.login_redirect import Departure
from identity.authentication.requests.parameters import Parameters
from identity.directory.provider import PROVIDERS, Provider, ProviderFields, ProviderType, SamlFields
from identity.foundation.events.event import EVENTS
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.call import TenantId
from tests.identity.authentication.federation.flow import Flow
from tests.identity.authentication.saml.idp import (
    ENTITY_ID,
    GIVEN_NAME,
    MAIL,
    SIGN_ON,
    SURNAME,
    Facts,
    Pair,
    pair,
    posted,
)
from tests.identity.browsers import ISSUER, NOON, app

DEFAULT = TenantId("default")


class SamlFlow:
    """The relying party is the client `app`; `p1` is the provider."""

    def __init__(self) -> None:
        self.inner = Flow()
        self.provider = self.inner.provider

    async def furnish(self, **saml: Any) -> Provider:
        await self.provider.register(app())
        return await self.add("p1", **saml)

    async def add(
        self, provider_id: str, *, by: Pair | None = None, fields: dict[str, Any] | None = None, **saml: Any
    ) -> Provider:
        settings = SamlFields(
            certificates=((by or pair()).text,),
            email_attribute=MAIL,
            given_name_attribute=GIVEN_NAME,
            family_name_attribute=SURNAME,
            vouches_for_email=True,
        )
        provider = Provider(
            tenant_id=DEFAULT,
            id=provider_id,
            fields=replace(
                ProviderFields(
                    name="Umbrella",
                    type=ProviderType.SAML,
                    is_enabled=True,
                    issuer=ENTITY_ID,
                    authorization_endpoint=SIGN_ON,
                    token_endpoint="",
                    client_id="",
                    token_endpoint_auth_method=AuthenticationMethod.NONE,
                    oauth_scopes=(),
                    onboards=True,
                    links=True,
                    saml=replace(settings, **saml),
                ),
                **(fields or {}),
            ),
        )
        made = await self.inner.saml_keys.make(DEFAULT, provider_id, provider_id)
        kept = replace(provider, saml_key=made.key, saml_certificate=made.certificate)
        return await self.provider.store.of(PROVIDERS).insert(kept)

    async def leave(
        self, provider_id: str = "p1", *, address: str = "", **parameters: str
    ) -> tuple[dict[str, str], Browser]:
        """Return the parameters of the redirect to the provider, and the browser."""
        departure, browser = await self.inner.departure(provider_id, address=address, **parameters)
        left = await self.inner.login_redirect.leave(self.provider.tenant, browser, departure)
        return dict(left.parameters), browser

    async def departure(self, provider_id: str = "p1", **parameters: str) -> tuple[Departure, Browser]:
        return await self.inner.departure(provider_id, **parameters)

    def facts(self, sent: dict[str, str], provider_id: str = "p1") -> Facts:
        """Return what a good response to the request says."""
        callback = f"{ISSUER}providers/{provider_id}/callback"
        return Facts(
            destination=callback,
            recipient=callback,
            audience=f"{ISSUER}providers/{provider_id}/metadata",
            in_response_to=inflated(sent["SAMLRequest"]).get("ID"),
            now=NOON,
        )

    async def arrive(
        self, browser: Browser, sent: dict[str, str], message: XmlElement | str, provider_id: str = "p1"
    ) -> None:
        """Post the response, and return with the browser's session."""
        text = message if isinstance(message, str) else posted(message)
        callback, tenant = self.inner.callback, self.provider.tenant
        await callback.keep(tenant, provider_id, relay_state=sent["RelayState"], message=text)
        given = Parameters.of([("state", sent["RelayState"])])
        self.arrived = await callback.arrive(tenant, browser, provider_id, given)
        assert not isinstance(self.arrived, StepUpRequest)

    async def signed_in(self) -> list[Session]:
        sessions = await self.provider.store.of(SESSIONS).page(DEFAULT)
        return [session for session in sessions if session.authentication is not None]

    async def refusals(self) -> list[str]:
        """Return the reasons in the events of refused responses."""
        events = await self.provider.store.of(EVENTS).page(DEFAULT)
        texts = [event.text or "" for event in events if event.type == "UpstreamResponseRefused"]
        return [text.removeprefix("provider Umbrella: ") for text in texts]


def inflated(message: str) -> XmlElement:
    """Return the root of a message of the redirect binding."""
    return etree.fromstring(zlib.decompress(base64.b64decode(message), -15))
