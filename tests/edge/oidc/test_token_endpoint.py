import asyncio
import base64
from urllib.parse import quote_plus

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient

from tests.identity.deployment import AMBIGUOUS_SECRET, NOON, SECRET, WORKER_SECRET

Http = TestClient[web.Request, web.Application]

TOKEN = "/auth/v1/oidc/token"
GRANT = {"grant_type": "client_credentials"}
IN_THE_FORM = {"client_id": "service", "client_secret": SECRET}


def basic(client_id: str, client_secret: str, scheme: str = "Basic") -> dict[str, str]:
    credentials = base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()
    return {"Authorization": f"{scheme} {credentials}"}


AS_SERVICE = basic("service", SECRET)


async def test_a_client_authenticates_with_basic(http: Http) -> None:
    response = await http.post(TOKEN, data=GRANT, headers=AS_SERVICE)

    issued = await response.json()
    assert response.status == 200
    assert (response.headers["Cache-Control"], response.headers["Pragma"]) == ("no-store", "no-cache")
    assert {"access_token", "token_type", "expires_in", "scope"} == set(issued)
    assert (issued["token_type"], issued["expires_in"]) == ("Bearer", 1800)


async def test_a_client_authenticates_in_the_form(http: Http) -> None:
    response = await http.post(TOKEN, data=GRANT | IN_THE_FORM)

    assert response.status == 200


async def test_the_scheme_is_read_in_any_case(http: Http) -> None:
    response = await http.post(TOKEN, data=GRANT, headers=basic("service", SECRET, scheme="bASIC"))

    assert response.status == 200


async def test_the_halves_of_basic_are_decoded(http: Http) -> None:
    encoded = "".join(f"%{octet:02x}" for octet in SECRET.encode())

    response = await http.post(TOKEN, data=GRANT, headers=basic(quote_plus("service"), encoded))

    assert response.status == 200


@pytest.mark.parametrize("secret", [quote_plus(AMBIGUOUS_SECRET), AMBIGUOUS_SECRET])
async def test_a_client_that_does_not_encode_the_halves_is_known_too(http: Http, secret: str) -> None:
    response = await http.post(TOKEN, data=GRANT, headers=basic("ambiguous", secret))

    assert response.status == 200


async def test_the_same_client_may_be_named_in_the_form_too(http: Http) -> None:
    response = await http.post(TOKEN, data=GRANT | {"client_id": "service"}, headers=AS_SERVICE)

    assert response.status == 200


async def test_a_parameter_without_a_value_counts_as_left_out(http: Http) -> None:
    response = await http.post(TOKEN, data=GRANT | {"scope": "", "client_secret": ""}, headers=AS_SERVICE)

    assert response.status == 200


async def test_an_unknown_parameter_is_passed_over(http: Http) -> None:
    response = await http.post(TOKEN, data=GRANT | {"favourite_colour": "blue"}, headers=AS_SERVICE)

    assert response.status == 200


async def test_the_scope_narrows(http: Http) -> None:
    response = await http.post(TOKEN, data=GRANT | {"scope": "job:work"}, headers=AS_SERVICE)

    assert (await response.json())["scope"] == "job:work"


REFUSALS = [
    pytest.param(400, "invalid_request", {}, AS_SERVICE, id="no grant type"),
    pytest.param(
        400, "unsupported_grant_type", {"grant_type": "password"}, AS_SERVICE, id="unknown grant type"
    ),
    pytest.param(401, "invalid_client", GRANT, {}, id="no client"),
    pytest.param(401, "invalid_client", GRANT | {"client_id": "service"}, {}, id="no secret"),
    pytest.param(401, "invalid_client", GRANT, basic("nobody", SECRET), id="unknown client"),
    pytest.param(401, "invalid_client", GRANT, basic("service", "wrong"), id="wrong secret"),
    pytest.param(
        401, "invalid_client", GRANT | IN_THE_FORM | {"client_secret": "no"}, {}, id="wrong secret in form"
    ),
    pytest.param(401, "invalid_client", GRANT, {"Authorization": "Basic !"}, id="malformed Basic"),
    pytest.param(
        401, "invalid_client", GRANT, {"Authorization": "Basic c2VydmljZQ=="}, id="Basic without colon"
    ),
    pytest.param(401, "invalid_client", GRANT, {"Authorization": "Basic //8="}, id="Basic that is no text"),
    pytest.param(401, "invalid_client", GRANT, {"Authorization": "Bearer x"}, id="another scheme"),
    pytest.param(400, "invalid_request", GRANT | IN_THE_FORM, AS_SERVICE, id="two methods at once"),
    pytest.param(
        400, "invalid_request", GRANT | {"client_id": "worker"}, AS_SERVICE, id="two clients at once"
    ),
    pytest.param(400, "invalid_scope", GRANT | {"scope": "nothing:known"}, AS_SERVICE, id="unknown scope"),
    pytest.param(400, "invalid_target", GRANT | {"resource": "https://a.example"}, AS_SERVICE, id="resource"),
    pytest.param(400, "invalid_request", GRANT, basic("x" * 257, SECRET), id="client id out of bounds"),
]


@pytest.mark.parametrize(("status", "error", "form", "headers"), REFUSALS)
async def test_a_refusal_is_written_as_oauth_says(
    http: Http, status: int, error: str, form: dict[str, str], headers: dict[str, str]
) -> None:
    response = await http.post(TOKEN, data=form or "", headers={"Content-Type": FORM} | headers)

    refused = await response.json()
    assert (status, error) == (response.status, refused["error"])
    assert refused["error_description"] == refused["message"]
    assert int(NOON.timestamp()) == refused["timestamp"]
    assert (response.headers["Cache-Control"], response.headers["Pragma"]) == ("no-store", "no-cache")
    assert ("WWW-Authenticate" in response.headers) == (status == 401)


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("grant_type=client_credentials&scope=job:work&scope=job:work", id="twice"),
        pytest.param("grant_type=client_credentials&scope=&scope=job:work", id="once empty"),
        pytest.param("grant_type=client_credentials&colour=red&colour=blue", id="unknown parameter twice"),
        pytest.param("grant_type=%ff", id="no UTF-8"),
        pytest.param(b"grant_type=\xff", id="no UTF-8 on the wire"),
        pytest.param("&".join(f"a{index}=1" for index in range(65)), id="too many parameters"),
    ],
)
async def test_a_malformed_form_is_refused(http: Http, body: str | bytes) -> None:
    response = await http.post(TOKEN, data=body, headers=AS_SERVICE | {"Content-Type": FORM})

    assert response.status == 400
    assert (await response.json())["error"] == "invalid_request"


async def test_json_is_refused(http: Http) -> None:
    response = await http.post(TOKEN, json=GRANT, headers=AS_SERVICE)

    assert (response.status, (await response.json())["error"]) == (400, "invalid_request")


async def test_a_large_body_is_refused(http: Http) -> None:
    response = await http.post(TOKEN, data={"grant_type": "x" * 20_000}, headers=AS_SERVICE)

    assert (response.status, (await response.json())["error"]) == (413, "invalid_request")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD"])
async def test_only_post_is_allowed(http: Http, method: str) -> None:
    response = await http.request(method, TOKEN)

    assert (response.status, response.headers["Allow"]) == (405, "POST, OPTIONS")


async def test_credentials_in_the_query_prove_nothing(http: Http) -> None:
    response = await http.post(TOKEN, params=IN_THE_FORM, data=GRANT)

    assert response.status == 401


async def test_two_authorization_headers_are_refused(http: Http) -> None:
    headers = [*AS_SERVICE.items(), *AS_SERVICE.items()]

    response = await http.post(TOKEN, data=GRANT, headers=headers)

    assert response.status == 400


async def test_a_tenants_clients_get_tokens_from_its_own_endpoint(http: Http) -> None:
    response = await http.post("/auth/v1/acme/oidc/token", data=GRANT, headers=basic("worker", WORKER_SECRET))

    assert response.status == 200


async def test_a_tenants_endpoint_knows_no_clients_of_others(http: Http) -> None:
    response = await http.post(
        "/auth/v1/umbrella/oidc/token", data=GRANT, headers=basic("worker", WORKER_SECRET)
    )

    assert (response.status, (await response.json())["error"]) == (401, "invalid_client")


@pytest.mark.parametrize("tenant", ["nobody", "oidc", "users", "Acme", "%6fidc", "a%2Fb", "a" * 33])
async def test_who_is_no_tenant_has_no_endpoint(http: Http, tenant: str) -> None:
    response = await http.post(f"/auth/v1/{tenant}/oidc/token", data=GRANT, headers=AS_SERVICE)

    assert (response.status, (await response.json())["error"]) == (404, "NotFound")


async def test_many_clients_at_once_are_all_served(http: Http) -> None:
    responses = await asyncio.gather(*(http.post(TOKEN, data=GRANT, headers=AS_SERVICE) for _ in range(50)))

    tokens = [(await response.json())["access_token"] for response in responses]
    assert len(set(tokens)) == 50
