"""Parameters that repeat an authorization request."""

import pytest

from identity.authentication.authorization.asked_again import asked_again
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.request import AuthorizationRequest, Prompt
from identity.directory.labels import AUTHORIZATION_DETAILS_TYPES, AuthorizationDetailsType
from tests.identity.browsers import Provider, app, calls


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    client = app(allowed_resources=("https://api.example.com",), authorization_details_types=("payment",))
    await provider.register(client)
    payment = AuthorizationDetailsType(
        tenant_id=provider.tenant.tenant_id, id="1", name="payment", title="Pay"
    )
    await provider.store.of(AUTHORIZATION_DETAILS_TYPES).insert(payment)
    return provider


async def read(provider: Provider, parameters: Parameters) -> AuthorizationRequest:
    _, request = await provider.reader.read(provider.tenant, parameters)
    return request


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({}, id="the usual"),
        pytest.param({"state": "", "nonce": ""}, id="less"),
        pytest.param({"response_mode": "form_post", "prompt": "login consent"}, id="another way back"),
        pytest.param({"resource": "https://api.example.com", "dpop_jkt": "j" * 43}, id="a bound token"),
        pytest.param({"max_age": "0", "acr_values": "a b", "ui_locales": "de en"}, id="wishes"),
        pytest.param({"claims": '{"id_token":{"email":null}}', "login_hint": "a@example.com"}, id="claims"),
        pytest.param({"authorization_details": '[{"type": "payment"}]'}, id="authorization details"),
        pytest.param({"state": "a b&c=ü#+%20"}, id="a state that needs encoding"),
    ],
)
async def test_a_request_that_is_asked_for_once_more_is_the_same(
    provider: Provider, parameters: dict[str, str]
) -> None:
    request = await read(provider, calls(**parameters))

    assert await read(provider, Parameters.of(asked_again(app(), request))) == request


async def test_who_was_to_register_first_signs_in_then(provider: Provider) -> None:
    request = await read(provider, calls(prompt="create consent"))

    again = await read(provider, Parameters.of(asked_again(app(), request)))

    assert (request.prompts, again.prompts) == ((Prompt.CONSENT, Prompt.CREATE), (Prompt.CONSENT,))


async def test_nobody_asks_in_the_place_of_a_client_that_signs_its_requests(provider: Provider) -> None:
    request = await read(provider, calls())

    assert asked_again(app(requires_signed_request=True), request) == (("client_id", "app"),)
