"""Tokens per second over HTTP from one server process, beside the bare signatures that they cost, in one run.

A ratio says how many bare RS256 signatures a request costs, by its share of the rate and by the processor time of the
server, which depends less on other load. An access token is one signature, with an ID token beside it there are two. The
least that a token could cost is the echo of its answer, and the signature.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import urlencode, urlsplit

import requests
from rich.table import Table

from identity.crypto.jose.algorithms import ALGORITHMS, SigningAlgorithm
from identity.crypto.jose.signing_key import SigningKey
from identity.foundation.vocabulary import GrantType
from identity.protocol.grants.token_exchange import ACCESS_TOKEN
from tests.bench.http import Cost, echo, load
from tests.bench.processes import children_seconds
from tests.people.person import SECONDS, Person
from tests.people.provider import REDIRECT_URI, SECRET, Provider, provider

CLIENT_CREDENTIALS = 3_000
CODES = 500
INTROSPECTIONS = 3_000
ECHOES = 10_000
ANSWER = 900
SIGNATURES = 300
SIGNED = b"x" * 400
SCOPE = "openid offline_access"
FORM = "application/x-www-form-urlencoded"


def table() -> Table:
    table = Table(title="Tokens per second over HTTP, one server process, 64 connections")
    for column in ("request", "per second", "µs", "RS256 signatures", "CPU µs", "RS256 signatures"):
        table.add_column(column, justify="left" if column == "request" else "right")
    bare = {name: _signature_seconds(name) for name in (SigningAlgorithm.RS256, SigningAlgorithm.ES256)}
    signature = bare[SigningAlgorithm.RS256] * 1e6
    for name, cost in (*_costs(), ("echo of the size of an answer", _echo())):
        spent = (1e6 / cost.rate, cost.cpu)
        figures = (each for one in spent for each in (f"{one:.0f}", f"{one / signature:.1f}"))
        table.add_row(name, f"{cost.rate:,.0f}", *figures)
    for algorithm, seconds in bare.items():
        microseconds = f"{seconds * 1e6:.0f}"
        table.add_row(f"bare {algorithm} signature", f"{1 / seconds:,.0f}", microseconds, "", microseconds)
    return table


def _echo() -> Cost:
    with echo() as server:
        requests = [server.request("/echo", b" " * ANSWER)] * ECHOES
        return _cost(lambda: load(server.port, requests), len(requests))


def _costs() -> Iterator[tuple[str, Cost]]:
    with provider() as running, running.person() as person:
        # Meanwhile the server makes the keys of the next rotation.
        codes = [_exchange(code) for code in _codes(running, person, 2 * CODES)]
        form = {"grant_type": "client_credentials"}
        yield "client credentials, RS256", _load(running, "oidc/token", [form] * CLIENT_CREDENTIALS)
        yield "code: access, ID and refresh token", _load(running, "oidc/token", codes[:CODES])
        issued = [_post(running, "oidc/token", form) for form in codes[CODES:]]
        refreshes = [
            {"grant_type": "refresh_token", "refresh_token": each["refresh_token"]} for each in issued
        ]
        yield "refresh: access, ID and refresh token", _load(running, "oidc/token", refreshes)
        _let_exchange(running)
        exchange = {
            "grant_type": GrantType.TOKEN_EXCHANGE.value,
            "subject_token": issued[0]["access_token"],
            "subject_token_type": ACCESS_TOKEN,
        }
        yield "token exchange, RS256", _load(running, "oidc/token", [exchange] * CLIENT_CREDENTIALS)
        form = {"token": _post(running, "oidc/token", {"grant_type": "client_credentials"})["access_token"]}
        yield "introspection", _load(running, "oidc/introspect", [form] * INTROSPECTIONS)


def _let_exchange(running: Provider) -> None:
    """Give the client the grant, as an administrator does."""
    form = {"grant_type": "client_credentials", "scope": "identity:read identity:write"}
    issued = requests.post(
        f"{running.issuer}oidc/token", data=form, auth=("demo", "demo-secret"), timeout=SECONDS
    )
    headers = {"Authorization": f"Bearer {issued.json()['access_token']}"}
    address = f"{running.issuer}clients/confidential"
    client = requests.get(address, headers=headers, timeout=SECONDS).json()
    client["flows_enabled"].append(GrantType.TOKEN_EXCHANGE.value)
    requests.put(address, json=client, headers=headers, timeout=SECONDS).raise_for_status()


def _signature_seconds(algorithm: SigningAlgorithm) -> float:
    kind = next(kind for kind in ALGORITHMS if kind.algorithm is algorithm)
    key = SigningKey.of("kid", algorithm, kind.generate())
    begun = time.thread_time()
    for _ in range(SIGNATURES):
        key.sign(SIGNED)
    return (time.thread_time() - begun) / SIGNATURES


def _codes(running: Provider, person: Person, count: int) -> Iterator[str]:
    asked = {
        "response_type": "code",
        "client_id": "confidential",
        "redirect_uri": REDIRECT_URI,
        "scope": SCOPE,
    }
    url = f"{running.issuer}oidc/authorize?{urlencode(asked)}"
    person.sign_in(url)
    for _ in range(count):
        yield person.sign_in(f"{url}&prompt=none").parameters["code"]


def _exchange(code: str) -> Mapping[str, str]:
    return {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT_URI}


def _post(running: Provider, path: str, form: Mapping[str, str]) -> Mapping[str, str]:
    answer = requests.post(
        f"{running.issuer}{path}", data=form, auth=("confidential", SECRET), timeout=SECONDS
    )
    answer.raise_for_status()
    return dict(answer.json())


def _load(running: Provider, path: str, forms: Sequence[Mapping[str, str]]) -> Cost:
    """Every answer has to be a success."""
    address = urlsplit(f"{running.issuer}{path}")
    requests = [_request(address.netloc, address.path, form) for form in forms]
    return _cost(lambda: load(address.port or 0, requests), len(requests))


def _cost(measure: Callable[[], float], requests: int) -> Cost:
    """The cost of requests to the servers that run now."""
    before = children_seconds()
    rate = measure()
    return Cost(rate, (children_seconds() - before) / requests * 1e6)


def _request(host: str, path: str, form: Mapping[str, str]) -> bytes:
    body = urlencode({**form, "client_id": "confidential", "client_secret": SECRET}).encode()
    return (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {FORM}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body
