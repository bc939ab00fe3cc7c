"""Verifies the response of a SAML provider and returns it as claims, which are mapped like those of an ID token."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from identity.authentication.saml.assertion import Assertion, Expected
from identity.authentication.saml.certificates import certificates_of
from identity.authentication.saml.keys import SamlKeys
from identity.authentication.saml.names import EMAIL_ADDRESS, TRANSIENT
from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.authentication.saml.response import Trust, assertion_of
from identity.authentication.saml.service_provider import callback_of, entity_id_of, saml_of
from identity.directory.provider import Provider, SamlFields
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated

_MAX_NAME_LENGTH = 255


class SamlResponses:
    def __init__(self, keys: SamlKeys, single_use: SingleUse, *, events: Events, clock: Clock) -> None:
        self._keys = keys
        self._single_use = single_use
        self._events = events
        self._clock = clock

    async def claims(
        self,
        tenant: Tenant,
        provider: Provider,
        message: str,
        *,
        request_id: str,
        not_before: datetime | None,
    ) -> Mapping[str, object]:
        """Return the claims of the response to a request.

        `not_before` is the earliest authentication that counts. Raises AccessDenied when the provider did not sign the
        user in, and Unauthenticated, after an event with the reason, for a response that is refused.
        """
        try:
            assertion = self._assertion(
                tenant, provider, message, request_id=request_id, not_before=not_before
            )
            claims = _claims(assertion, saml_of(provider))
            await self._spend(tenant, provider, assertion)
        except RefusedMessage as refused:
            await self._events.emit(
                tenant.tenant_id,
                EventType.UPSTREAM_RESPONSE_REFUSED,
                text=f"provider {provider.fields.name}: {refused.reason}",
            )
            raise Unauthenticated("the response of the provider is invalid") from refused
        return claims

    def _assertion(
        self,
        tenant: Tenant,
        provider: Provider,
        message: str,
        *,
        request_id: str,
        not_before: datetime | None,
    ) -> Assertion:
        saml = saml_of(provider)
        expected = Expected(
            issuer=provider.fields.issuer,
            audience=entity_id_of(tenant, provider),
            recipient=callback_of(tenant, provider),
            in_response_to=request_id,
            now=self._clock.now(),
            skew=timedelta(seconds=saml.clock_skew_secs),
            not_before=not_before,
        )
        key, _ = self._keys.open(provider)
        trust = Trust(
            certificates=certificates_of(saml.certificates),
            key=key,
            requires_encryption=saml.requires_encryption,
        )
        return assertion_of(message, expected, trust)

    async def _spend(self, tenant: Tenant, provider: Provider, assertion: Assertion) -> None:
        identifier = f"{provider.id} {assertion.id}"
        if not await self._single_use.spend(tenant, "saml assertion", identifier, until=assertion.until):
            raise RefusedMessage(Refusal.REPLAY)


def _claims(assertion: Assertion, saml: SamlFields) -> Mapping[str, object]:
    """Return the attributes by name, with standard claims in place of attributes of the same names."""
    attributes = assertion.attributes
    attribute_claims: dict[str, object] = {name: list(values) for name, values in attributes.items()}
    if saml.subject_attribute:
        subject = _first(attributes, saml.subject_attribute)
    else:
        # A transient NameID is different at each sign-in: Core §8.3.8.
        subject = "" if assertion.name_id_format == TRANSIENT else assertion.name_id
    if not 0 < len(subject) <= _MAX_NAME_LENGTH:
        raise RefusedMessage(Refusal.SUBJECT)
    has_address = not saml.email_attribute and assertion.name_id_format == EMAIL_ADDRESS
    return attribute_claims | {
        "sub": subject,
        "sid": assertion.session_index,
        "acr": assertion.context_class,
        "email": assertion.name_id if has_address else _first(attributes, saml.email_attribute),
        "email_verified": saml.vouches_for_email,
        "given_name": _first(attributes, saml.given_name_attribute),
        "family_name": _first(attributes, saml.family_name_attribute),
    }


def _first(attributes: Mapping[str, tuple[str, ...]], name: str) -> str:
    return next(iter(attributes.get(name, ())), "")
