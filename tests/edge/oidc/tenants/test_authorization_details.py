"""Rich authorization requests over HTTP, with the payment of RFC 9396 as the example."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from joserfc.jwk import ECKey

from identity.crypto.signed_jwt import parse
from identity.directory.authorization_details.details import MAX_BYTES
from identity.directory.client import CLIENTS
from server.platform.call import TenantId
from tests.certification.test_fapi2 import signed
from tests.edge.oidc.tenants.world import CALLBACK, CHALLENGE, EMAIL, VERIFIER, World
from tests.people.person import Arrival, Page, Person

Details = list[dict[str, Any]]

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
CIBA = "urn:openid:params:grant-type:ciba"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"

PAYMENT_TYPE = {
    "name": "payment_initiation",
    "title": "Pay an invoice",
    "description": "The payment is executed once.",
    "fields": {
        "instructedAmount.amount": {"label": "Amount", "required": True},
        "instructedAmount.currency": {"label": "Currency", "values": ["EUR", "USD"], "required": True},
        "creditorName": {"label": "Recipient", "required": True},
        "creditorAccount.iban": {"label": "Account of the recipient"},
        "remittanceInformationUnstructured": {"label": "Reference"},
        "actions[]": {"label": "Actions", "values": ["initiate", "status", "cancel"]},
        "locations[]": {"label": "At"},
        "isUrgent": {"label": "Urgent", "type": "boolean"},
        "retries": {"label": "Attempts", "type": "number"},
    },
}
ACCOUNTS_TYPE = {
    "name": "account_information",
    "title": "See your accounts",
    "fields": {
        "access.accounts[].iban": {"label": "Account"},
        "access.balances[].iban": {"label": "Balance of"},
        "recurringIndicator": {"label": "Repeatedly", "type": "boolean"},
    },
}
# RFC 9396 §2, figure 2.
PAYMENT: dict[str, Any] = {
    "type": "payment_initiation",
    "actions": ["initiate", "status", "cancel"],
    "locations": ["https://example.com/payments"],
    "instructedAmount": {"currency": "EUR", "amount": "123.50"},
    "creditorName": "Merchant A",
    "creditorAccount": {"iban": "DE02100100109307118603"},
    "remittanceInformationUnstructured": "Ref Number Merchant",
}
ACCOUNTS: dict[str, Any] = {
    "type": "account_information",
    "access": {"accounts": [{"iban": "DE2310010010123456789"}, {"iban": "DE2310010010123456788"}]},
    "recurringIndicator": True,
}
OTHER_PAYMENT = PAYMENT | {"instructedAmount": {"currency": "EUR", "amount": "1.00"}}
PAYMENT_OF_ONE: dict[str, Any] = {
    "type": "payment_initiation",
    "instructedAmount": {"currency": "EUR", "amount": "1"},
    "creditorName": "A",
}
KEY = ECKey.generate_key("P-256")

CLIENT = {
    "id": "shop",
    "name": "The shop",
    "enabled": True,
    "confidential": True,
    "redirect_uris": [CALLBACK],
    "flows_enabled": ["authorization_code", "refresh_token", "client_credentials", DEVICE, CIBA],
    "scopes": ["openid", "email"],
    "default_scopes": ["openid"],
    "challenges": ["S256"],
    "authorization_details_types": ["payment_initiation", "account_information"],
    "token_endpoint_auth_method": "client_secret_post",
}


@dataclass
class Shop:
    provider: World
    secret: str
    client_id: str = "shop"

    async def send(self, path: str, **form: str) -> tuple[int, Any]:
        own = {"client_id": self.client_id, "client_secret": self.secret}
        answer = await self.provider.http.post(f"{self.provider.issuer()}{path}", data=form | own)
        return answer.status, await answer.json()

    def address(self, *asked: Mapping[str, Any], text: str | None = None, **parameters: str) -> str:
        details = json.dumps(asked) if text is None else text
        default = {
            "client_id": self.client_id,
            "response_type": "code",
            "redirect_uri": CALLBACK,
            "scope": "openid email",
            "state": "s",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        query = default | ({"authorization_details": details} if details != "[]" else {}) | parameters
        return f"{self.provider.issuer()}oidc/authorize?{urlencode(query)}"

    async def accept(self, address: str) -> tuple[Page, Arrival]:
        """Sign Alice in and accept; returns the question and where it leads."""
        return await self.provider.person("", lambda person: accepted(person, address))

    async def code(self, *asked: Mapping[str, Any], **parameters: str) -> str:
        _, arrival = await self.accept(self.address(*asked, **parameters))
        return arrival.parameters["code"]

    async def redeem(self, code: str, *asked: Mapping[str, Any]) -> tuple[int, Any]:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        return await self.send("oidc/token", code_verifier=VERIFIER, **form, **narrowed(asked))

    async def refresh(self, token: str, *asked: Mapping[str, Any]) -> tuple[int, Any]:
        form = {"grant_type": "refresh_token", "refresh_token": token}
        return await self.send("oidc/token", **form, **narrowed(asked))

    async def tokens(self, *asked: Mapping[str, Any]) -> Any:
        status, body = await self.redeem(await self.code(*asked))
        assert status == 200, body
        return body

    async def introspect(self, token: str) -> Any:
        return (await self.send("oidc/introspect", token=token))[1]

    async def refusal(self, address: str) -> dict[str, str]:
        """Where a request leads that nobody is asked about."""
        arrival = await self.provider.person("", lambda person: person.visit(address))
        assert isinstance(arrival, Arrival), arrival.words
        return arrival.parameters


def narrowed(asked: tuple[Mapping[str, Any], ...]) -> dict[str, str]:
    return {"authorization_details": json.dumps(asked)} if asked else {}


def asked_by(person: Person, address: str) -> Page:
    page = person.visit(address)
    assert isinstance(page, Page), page.parameters
    question = person.submit(page)
    assert isinstance(question, Page), question.parameters
    return question


def accepted(person: Person, address: str) -> tuple[Page, Arrival]:
    question = asked_by(person, address)
    arrival = person.answer(question, "accept")
    assert isinstance(arrival, Arrival), arrival.words
    return question, arrival


def claim_of(tokens: Mapping[str, Any]) -> object:
    return parse(str(tokens["access_token"])).claims.get("authorization_details")


async def put(provider: World, client: Mapping[str, Any]) -> Any:
    answer = await provider.administer("PUT", f"clients/{client['id']}", json=client)
    assert answer.status == 200, await answer.text()
    return await answer.json()


async def add_client(provider: World, **members: Any) -> str:
    """Create a client with these settings, and return its secret."""
    client = CLIENT | members
    new = {"id": client["id"], "confidential": True, "redirect_uris": client["redirect_uris"]}
    created = await provider.administer("POST", "clients", json=new)
    await put(provider, client)
    return str((await created.json())["secret"])


async def add_type(provider: World, members: Mapping[str, Any]) -> str:
    answer = await provider.administer("POST", "authorization_details_types", json=members)
    assert answer.status == 200, await answer.text()
    return str((await answer.json())["id"])


@pytest.fixture
async def shop(provider: World) -> Shop:
    """A client that asks for payments and accounts of Alice."""
    await provider.add_user("default", "alice")
    for each in (PAYMENT_TYPE, ACCOUNTS_TYPE):
        await add_type(provider, each)
    return Shop(provider, await add_client(provider))


async def test_a_user_accepts_the_payment_of_the_standard(shop: Shop) -> None:
    question, arrival = await shop.accept(shop.address(PAYMENT))
    status, tokens = await shop.redeem(arrival.parameters["code"])
    found = await shop.introspect(tokens["access_token"])
    of_refresh_token = await shop.introspect(tokens["refresh_token"])

    said = question.words[question.words.index("Pay an invoice") :]
    assert (status, tokens["authorization_details"]) == (200, [PAYMENT])
    assert claim_of(tokens) == found["authorization_details"] == [PAYMENT]
    assert of_refresh_token["authorization_details"] == [PAYMENT]
    assert said.startswith(
        "Pay an invoice The payment is executed once. Amount 123.50 Currency EUR Recipient Merchant A "
        "Account of the recipient DE02100100109307118603 Reference Ref Number Merchant "
        "Actions initiate status cancel At https://example.com/payments"
    )


async def test_the_event_of_a_consent_names_the_types(shop: Shop) -> None:
    await shop.accept(shop.address(PAYMENT))

    events = await (await shop.provider.administer("POST", "events", json={"from": 0})).json()

    (granted,) = [each for each in events if each["typ"] == "ConsentGranted"]
    assert granted["text"] == "openid email payment_initiation"


async def test_a_request_without_details_is_answered_without_them(shop: Shop) -> None:
    arrival = await shop.provider.person("", lambda person: person.sign_in(shop.address()))
    _, tokens = await shop.redeem(arrival.parameters["code"])

    assert "authorization_details" not in tokens
    assert claim_of(tokens) is None
    assert "authorization_details" not in await shop.introspect(tokens["access_token"])


async def test_objects_in_lists_and_choices_are_shown_in_words(shop: Shop) -> None:
    question, _ = await shop.accept(shop.address(ACCOUNTS, PAYMENT | {"isUrgent": False, "retries": 3}))

    assert (
        "See your accounts Account DE2310010010123456789 Account DE2310010010123456788 Repeatedly Yes"
        in question.words
    )
    assert "Urgent No Attempts 3" in question.words


async def test_a_pushed_request_carries_details(shop: Shop) -> None:
    form = {
        "response_type": "code",
        "redirect_uri": CALLBACK,
        "scope": "openid",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    status, pushed = await shop.send("oidc/par", **form, authorization_details=json.dumps([PAYMENT]))
    refused = await shop.send("oidc/par", **form, authorization_details='[{"type": "loan"}]')
    query = urlencode({"client_id": "shop", "request_uri": pushed["request_uri"]})
    _, arrival = await shop.accept(f"{shop.provider.issuer()}oidc/authorize?{query}")
    _, tokens = await shop.redeem(arrival.parameters["code"])

    assert status == 201
    assert (refused[0], refused[1]["error"]) == (400, "invalid_authorization_details")
    assert tokens["authorization_details"] == [PAYMENT]


async def test_a_signed_request_carries_details_as_json(shop: Shop) -> None:
    await put(shop.provider, CLIENT | {"jwks": {"keys": [KEY.as_dict(private=False)]}})
    claims = {
        "iss": "shop",
        "client_id": "shop",
        "aud": shop.provider.issuer(),
        "response_type": "code",
        "redirect_uri": CALLBACK,
        "scope": "openid",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "authorization_details": [PAYMENT],
    }
    query = urlencode({"client_id": "shop", "request": signed(claims, KEY)})

    question, arrival = await shop.accept(f"{shop.provider.issuer()}oidc/authorize?{query}")

    _, tokens = await shop.redeem(arrival.parameters["code"])
    assert "Recipient Merchant A" in question.words
    assert tokens["authorization_details"] == [PAYMENT]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("payment_initiation", id="no JSON"),
        pytest.param("{}", id="no array"),
        pytest.param("[ ]", id="no object"),
        pytest.param('["payment_initiation"]', id="no objects"),
        pytest.param("[" * 2000, id="too deep"),
        pytest.param("[{}]", id="no type"),
        pytest.param('[{"type": 1}]', id="a type that is no text"),
        pytest.param('[{"type": "loan"}]', id="unknown type"),
        pytest.param(json.dumps([PAYMENT | {"tip": "5.00"}]), id="unknown field"),
        pytest.param(
            json.dumps([PAYMENT | {"instructedAmount": {"currency": "EUR", "amount": "1", "tip": "5"}}]),
            id="unknown field of a field",
        ),
        pytest.param(json.dumps([PAYMENT | {"instructedAmount": {"currency": "EUR"}}]), id="missing member"),
        pytest.param(json.dumps([{"type": "payment_initiation"}]), id="missing fields"),
        pytest.param(json.dumps([PAYMENT | {"instructedAmount": "123.50 EUR"}]), id="no object"),
        pytest.param(json.dumps([PAYMENT | {"creditorName": 7}]), id="wrong type of a value"),
        pytest.param(json.dumps([PAYMENT | {"creditorName": None}]), id="null"),
        pytest.param(json.dumps([PAYMENT | {"creditorName": {"a": "b"}}]), id="object for a value"),
        pytest.param(json.dumps([PAYMENT | {"creditorAccount": {}}]), id="empty object"),
        pytest.param(json.dumps([PAYMENT | {"isUrgent": "true"}]), id="no choice"),
        pytest.param(json.dumps([PAYMENT | {"retries": True}]), id="no number"),
        pytest.param(json.dumps([PAYMENT | {"actions": ["refund"]}]), id="unknown value"),
        pytest.param(json.dumps([PAYMENT | {"actions": "initiate"}]), id="no list"),
        pytest.param(json.dumps([PAYMENT | {"actions": []}]), id="empty list"),
        pytest.param(json.dumps([PAYMENT | {"creditorName": ["Merchant A"]}]), id="list for a value"),
        pytest.param(json.dumps([PAYMENT | {"creditorName": "A\u202etnahcreM"}]), id="turned text"),
        pytest.param(json.dumps([PAYMENT | {"creditorName": "A\nB"}]), id="two lines"),
        pytest.param(json.dumps([PAYMENT | {"creditorName": "A" * 2048}]), id="too long"),
        pytest.param(json.dumps([PAYMENT_OF_ONE | {"retries": n} for n in range(11)]), id="eleven objects"),
    ],
)
async def test_details_that_do_not_conform_are_refused(shop: Shop, text: str) -> None:
    found = await shop.refusal(shop.address(text=text))
    at_token_endpoint = await shop.send(
        "oidc/token", grant_type="client_credentials", authorization_details=text
    )

    assert (found["error"], found["state"]) == ("invalid_authorization_details", "s")
    assert (at_token_endpoint[0], at_token_endpoint[1]["error"]) == (400, "invalid_authorization_details")


async def test_a_client_asks_for_its_registered_types_only(shop: Shop) -> None:
    await put(shop.provider, CLIENT | {"authorization_details_types": ["account_information"]})

    found = await shop.refusal(shop.address(PAYMENT))

    assert found["error"] == "invalid_authorization_details"
    assert "code" in (await shop.accept(shop.address(ACCOUNTS)))[1].parameters


async def test_the_longest_details_reach_their_client(shop: Shop) -> None:
    longest = PAYMENT | {"creditorName": ""}
    room = MAX_BYTES - len(json.dumps([longest], separators=(",", ":")))
    longest["creditorName"] = "A" * room
    text = json.dumps([longest], separators=(",", ":"))
    too_long = await shop.refusal(shop.address(text=text.replace("AA", "AAA", 1)))

    _, arrival = await shop.accept(shop.address(text=text))
    status, tokens = await shop.redeem(arrival.parameters["code"])

    assert too_long["error"] == "invalid_authorization_details"
    assert (status, tokens["authorization_details"], claim_of(tokens)) == (200, [longest], [longest])


async def test_the_order_of_members_and_repeated_objects_change_nothing(shop: Shop) -> None:
    turned = dict(reversed(PAYMENT.items()))
    tokens = await shop.tokens(PAYMENT, turned)

    _, narrower = await shop.refresh(tokens["refresh_token"], turned)

    assert tokens["authorization_details"] == narrower["authorization_details"] == [PAYMENT]


async def test_a_code_gives_fewer_details_but_no_others(shop: Shop) -> None:
    code = await shop.code(PAYMENT, ACCOUNTS)
    wider = [
        await shop.redeem(code, each)
        for each in (OTHER_PAYMENT, PAYMENT | {"actions": ["initiate"]}, {"type": "loan"})
    ]
    status, tokens = await shop.redeem(code, ACCOUNTS)
    _, refreshed = await shop.refresh(tokens["refresh_token"])

    assert {(each[0], each[1]["error"]) for each in wider} == {(400, "invalid_authorization_details")}
    assert (status, tokens["authorization_details"], claim_of(tokens)) == (200, [ACCOUNTS], [ACCOUNTS])
    # The grant keeps all that the user accepted: RFC 9396 §6.
    assert refreshed["authorization_details"] == [PAYMENT, ACCOUNTS]


async def test_a_refresh_narrows_one_access_token_and_never_widens(shop: Shop) -> None:
    tokens = await shop.tokens(PAYMENT, ACCOUNTS)
    _, narrower = await shop.refresh(tokens["refresh_token"], PAYMENT)
    wider = await shop.refresh(narrower["refresh_token"], PAYMENT, OTHER_PAYMENT)
    _, whole = await shop.refresh(narrower["refresh_token"])

    assert (narrower["authorization_details"], claim_of(narrower)) == ([PAYMENT], [PAYMENT])
    assert (wider[0], wider[1]["error"]) == (400, "invalid_authorization_details")
    assert whole["authorization_details"] == [PAYMENT, ACCOUNTS]


async def test_a_grant_without_details_gets_none_at_the_token_endpoint(shop: Shop) -> None:
    arrival = await shop.provider.person("", lambda person: person.sign_in(shop.address()))
    code = arrival.parameters["code"]
    asked = await shop.redeem(code, PAYMENT)
    _, tokens = await shop.redeem(code)

    refreshed = await shop.refresh(tokens["refresh_token"], PAYMENT)

    assert (asked[0], asked[1]["error"]) == (400, "invalid_authorization_details")
    assert (refreshed[0], refreshed[1]["error"]) == (400, "invalid_authorization_details")


async def test_a_client_asks_in_its_own_name(shop: Shop) -> None:
    form = {"grant_type": "client_credentials"}
    status, tokens = await shop.send("oidc/token", **form, authorization_details=json.dumps([PAYMENT]))
    _, plain = await shop.send("oidc/token", **form)

    assert (status, tokens["authorization_details"], claim_of(tokens)) == (200, [PAYMENT], [PAYMENT])
    assert "authorization_details" not in plain


async def test_an_exchange_passes_on_what_both_clients_may_have(shop: Shop) -> None:
    secret = await add_client(
        shop.provider, id="api", flows_enabled=[EXCHANGE], authorization_details_types=["payment_initiation"]
    )
    await put(shop.provider, CLIENT | {"may_act": ["api"]})
    tokens = await shop.tokens(PAYMENT, ACCOUNTS)
    api = Shop(shop.provider, secret, "api")
    form = {
        "grant_type": EXCHANGE,
        "subject_token": str(tokens["access_token"]),
        "subject_token_type": ACCESS_TOKEN,
    }

    status, exchanged = await api.send("oidc/token", **form)
    of_accounts = await api.send("oidc/token", **form, authorization_details=json.dumps([ACCOUNTS]))
    other = await api.send("oidc/token", **form, authorization_details=json.dumps([OTHER_PAYMENT]))

    assert (status, exchanged["authorization_details"], claim_of(exchanged)) == (200, [PAYMENT], [PAYMENT])
    for refused in (of_accounts, other):
        assert (refused[0], refused[1]["error"]) == (400, "invalid_authorization_details")


async def test_a_device_asks_for_details(shop: Shop) -> None:
    refused = await shop.send("oidc/device", authorization_details='[{"type": "loan"}]')
    _, started = await shop.send("oidc/device", scope="openid", authorization_details=json.dumps([PAYMENT]))
    await shop.provider.person(
        "", lambda person: person.let_device_in(str(started["verification_uri_complete"]))
    )

    status, tokens = await shop.send("oidc/token", grant_type=DEVICE, device_code=str(started["device_code"]))

    assert (refused[0], refused[1]["error"]) == (400, "invalid_authorization_details")
    assert (status, tokens["authorization_details"]) == (200, [PAYMENT])


async def test_a_request_to_a_user_elsewhere_shows_details(shop: Shop) -> None:
    form = {"scope": "openid", "login_hint": EMAIL}
    refused = await shop.send("oidc/bc-authorize", **form, authorization_details='[{"type": "loan"}]')
    _, started = await shop.send("oidc/bc-authorize", **form, authorization_details=json.dumps([PAYMENT]))

    def decide(person: Person) -> Page:
        page = asked_by(person, f"{person.issuer}sign-in-requests")
        assert isinstance(person.answer(page, "accept"), Page)
        return page

    page = await shop.provider.person("", decide)
    shop.provider.deployment.clock.advance(timedelta(seconds=5))
    status, tokens = await shop.send("oidc/token", grant_type=CIBA, auth_req_id=str(started["auth_req_id"]))

    assert (refused[0], refused[1]["error"]) == (400, "invalid_authorization_details")
    assert "Pay an invoice The payment is executed once. Amount 123.50" in page.words
    assert (status, tokens["authorization_details"]) == (200, [PAYMENT])


async def test_equal_details_are_asked_for_once_and_others_again(shop: Shop) -> None:
    await put(shop.provider, CLIENT | {"consent": "once"})

    def act(person: Person) -> tuple[Page | Arrival, ...]:
        accepted(person, shop.address(PAYMENT))
        return tuple(
            person.visit(shop.address(*details, prompt="none"))
            for details in ((PAYMENT,), (OTHER_PAYMENT,), (PAYMENT, ACCOUNTS), ())
        )

    same, other, more, none = [
        each.parameters for each in await shop.provider.person("", act) if isinstance(each, Arrival)
    ]

    assert "code" in same
    assert other["error"] == more["error"] == "consent_required"
    assert "code" in none


async def test_details_are_asked_for_even_at_a_client_that_never_asks(shop: Shop) -> None:
    def act(person: Person) -> tuple[Page | Arrival, ...]:
        person.sign_in(shop.address())
        return tuple(person.visit(shop.address(*details, prompt="none")) for details in ((), (PAYMENT,)))

    plain, detailed = [
        each.parameters for each in await shop.provider.person("", act) if isinstance(each, Arrival)
    ]

    assert "code" in plain
    assert detailed["error"] == "consent_required"


async def test_a_client_that_always_asks_asks_for_an_equal_payment_again(shop: Shop) -> None:
    await put(shop.provider, CLIENT | {"consent": "always"})

    def act(person: Person) -> Page | Arrival:
        accepted(person, shop.address(PAYMENT))
        return person.visit(shop.address(PAYMENT, prompt="none"))

    again = await shop.provider.person("", act)

    assert isinstance(again, Arrival)
    assert again.parameters["error"] == "consent_required"


async def test_who_declines_gives_nothing(shop: Shop) -> None:
    def act(person: Person) -> Page | Arrival:
        return person.answer(asked_by(person, shop.address(PAYMENT)), "decline")

    arrival = await shop.provider.person("", act)

    assert isinstance(arrival, Arrival)
    assert arrival.parameters["error"] == "access_denied"


async def test_consents_list_the_latest_details_with_their_texts(shop: Shop) -> None:
    payments = [
        PAYMENT | {"instructedAmount": {"currency": "EUR", "amount": f"{number}.00"}} for number in range(25)
    ]

    def act(person: Person) -> None:
        for payment in payments:
            accepted(person, shop.address(payment))

    await shop.provider.person("", act)
    answer = await shop.provider.administer("GET", "users/alice/consents")
    (consent,) = await answer.json()

    shown = [each["detail"]["instructedAmount"]["amount"] for each in consent["authorization_details"]]
    assert shown == [f"{number}.00" for number in range(5, 25)]
    assert consent["authorization_details"][0]["title"] == "Pay an invoice"
    assert consent["authorization_details"][0]["rows"][0] == {
        "label": "Amount",
        "values": ["5.00"],
        "is_boolean": False,
    }


async def test_the_metadata_names_the_types_of_the_tenant(shop: Shop) -> None:
    default = await shop.provider.metadata()
    acme = await shop.provider.metadata("/auth/v1/acme/.well-known/openid-configuration")

    assert default["authorization_details_types_supported"] == ["account_information", "payment_initiation"]
    assert acme["authorization_details_types_supported"] == []


async def test_a_type_of_another_tenant_is_unknown(shop: Shop) -> None:
    await shop.provider.add_app("acme", authorization_details_types=("payment_initiation",))
    address = shop.provider.authorization("acme") + "&" + urlencode(narrowed((PAYMENT,)))

    arrival = await shop.provider.person("acme", lambda person: person.visit(address))

    assert isinstance(arrival, Arrival)
    assert arrival.parameters["error"] == "invalid_authorization_details"


async def test_a_renamed_type_stays_with_its_clients_and_a_removed_one_is_refused(shop: Shop) -> None:
    listed = await (await shop.provider.administer("GET", "authorization_details_types")).json()
    (type_id,) = [each["id"] for each in listed if each["name"] == "payment_initiation"]
    path = f"authorization_details_types/{type_id}"

    renamed = await shop.provider.administer("PUT", path, json=PAYMENT_TYPE | {"name": "payment"})
    client = await (await shop.provider.administer("GET", "clients/shop")).json()
    tokens = await shop.tokens(PAYMENT | {"type": "payment"})
    removed = await shop.provider.administer("DELETE", path)
    found = await shop.refusal(shop.address(PAYMENT | {"type": "payment"}))

    assert (renamed.status, (await renamed.json())["fields"]) == (200, PAYMENT_TYPE["fields"])
    assert client["authorization_details_types"] == ["payment", "account_information"]
    assert removed.status == 200
    assert found["error"] == "invalid_authorization_details"
    # What was granted stays granted, as with scopes.
    assert (await shop.introspect(tokens["access_token"]))["authorization_details"][0]["type"] == "payment"


async def test_consents_show_details_of_a_removed_type_with_their_paths(shop: Shop) -> None:
    await shop.tokens(ACCOUNTS)
    listed = await (await shop.provider.administer("GET", "authorization_details_types")).json()
    (type_id,) = [each["id"] for each in listed if each["name"] == "account_information"]
    await shop.provider.administer("DELETE", f"authorization_details_types/{type_id}")

    (consent,) = await (await shop.provider.administer("GET", "users/alice/consents")).json()

    (detail,) = consent["authorization_details"]
    assert (detail["detail"], detail["title"]) == (ACCOUNTS, "account_information")
    assert [(row["label"], row["values"]) for row in detail["rows"]] == [
        ("access.accounts.iban", ["DE2310010010123456789"]),
        ("access.accounts.iban", ["DE2310010010123456788"]),
        ("recurringIndicator", ["true"]),
    ]


@pytest.mark.parametrize(
    ("members", "field"),
    [
        pytest.param({"name": "p"}, "name", id="short name"),
        pytest.param({"name": "pay now"}, "name", id="name with a space"),
        pytest.param({"title": ""}, "title", id="no title"),
        pytest.param({"title": "\u202eyaP"}, "title", id="turned title"),
        pytest.param({"description": "a\nb"}, "description", id="two lines"),
        pytest.param({"fields": {"type": {"label": "Type"}}}, "fields", id="the type itself"),
        pytest.param({"fields": {"a": {}}}, "fields", id="no label"),
        pytest.param({"fields": {"a": {"label": ""}}}, "fields", id="empty label"),
        pytest.param({"fields": {"a": {"label": "A\u200b"}}}, "fields", id="invisible label"),
        pytest.param({"fields": {"a": {"label": "A", "type": "date"}}}, "fields", id="unknown type"),
        pytest.param({"fields": {"a": {"label": "A", "pattern": "x"}}}, "fields", id="unknown rule"),
        pytest.param(
            {"fields": {"a": {"label": "A", "type": "number", "values": ["1"]}}},
            "fields",
            id="values of a number",
        ),
        pytest.param({"fields": {"a..b": {"label": "A"}}}, "fields", id="no path"),
        pytest.param({"fields": {"a.b.c.d.e.f": {"label": "A"}}}, "fields", id="deep path"),
        pytest.param({"fields": {"a": {"label": "A"}, "a.b": {"label": "B"}}}, "fields", id="two meanings"),
        pytest.param({"fields": {"a.b": {"label": "B"}, "a": {"label": "A"}}}, "fields", id="turned around"),
        pytest.param({"fields": {"a": {"label": "A"}, "a[]": {"label": "B"}}}, "fields", id="a list, too"),
        pytest.param({"fields": {f"f{n}": {"label": "F"} for n in range(51)}}, "fields", id="51 fields"),
    ],
)
async def test_a_type_that_pages_could_not_show_is_refused(
    provider: World, members: dict[str, Any], field: str
) -> None:
    answer = await provider.administer(
        "POST", "authorization_details_types", json=PAYMENT_TYPE | {"name": "loan"} | members
    )
    listed = await (await provider.administer("GET", "authorization_details_types")).json()

    assert answer.status == 400
    assert field in await answer.text()
    assert listed == []


async def test_a_name_is_taken_once(shop: Shop) -> None:
    answer = await shop.provider.administer("POST", "authorization_details_types", json=PAYMENT_TYPE)

    assert answer.status == 409


async def test_only_administrators_manage_types(shop: Shop) -> None:
    answer = await shop.provider.http.get("/auth/v1/authorization_details_types")

    assert answer.status == 401


async def test_a_client_has_at_most_twenty_types(shop: Shop) -> None:
    types = [f"type{number}" for number in range(21)]

    answer = await shop.provider.administer(
        "PUT", "clients/shop", json=CLIENT | {"authorization_details_types": types}
    )

    kept = await shop.provider.store.of(CLIENTS).get(TenantId("default"), "shop")
    assert answer.status == 400
    assert kept is not None
    assert kept.authorization_details_types == ("payment_initiation", "account_information")
