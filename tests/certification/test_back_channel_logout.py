"""oidcc-backchannel-rp-initiated-logout-certification-test-plan."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from urllib.parse import parse_qs, urlencode

import requests
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.certification.relying_party import RelyingParty
from tests.people.person import SECONDS, Arrival
from tests.people.provider import POST_LOGOUT_REDIRECT_URI, Provider
from tests.people.provider import provider as running

EVENT = "http://schemas.openid.net/event/backchannel-logout"
DELIVERY_SECONDS = 20


@contextmanager
def receiver() -> Iterator[tuple[str, "Queue[str]"]]:
    """An address that takes logout tokens, and what it was sent."""
    received: Queue[str] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # as the library calls it
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            received.put(parse_qs(body)["logout_token"][0])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/logout", received
        finally:
            server.shutdown()
            thread.join()


def test_oidcc_backchannel_logout_discovery_endpoint_verification(provider: Provider) -> None:
    assert provider.metadata["backchannel_logout_supported"] is True
    assert provider.metadata["backchannel_logout_session_supported"] is True


def test_oidcc_backchannel_rp_initiated_logout() -> None:
    with (
        receiver() as (address, received),
        running(backchannel_logout_uri=address) as provider,
        provider.person() as person,
    ):
        party = RelyingParty(provider, person)
        answered = party.signed_in()

        parameters = {
            "id_token_hint": answered.tokens["id_token"],
            "post_logout_redirect_uri": POST_LOGOUT_REDIRECT_URI,
        }
        back = person.visit(f"{provider.issuer}oidc/logout?{urlencode(parameters)}")

        assert back == Arrival(POST_LOGOUT_REDIRECT_URI)
        keys = KeySet.import_key_set(requests.get(str(provider.metadata["jwks_uri"]), timeout=SECONDS).json())
        token = jwt.decode(received.get(timeout=DELIVERY_SECONDS), keys, algorithms=["RS256"])
        claims = token.claims
        assert token.header["typ"] == "logout+jwt"
        assert claims["iss"] == provider.issuer
        assert claims["aud"] == party.client_id
        assert claims["events"] == {EVENT: {}}
        assert {"iat", "exp", "jti"} <= claims.keys()
        assert claims["sub"] == answered.claims["sub"]
        assert claims["sid"] == answered.claims["sid"]
        assert "nonce" not in claims
        outcome = person.visit(party.url(prompt="none"))
        assert party.failed(outcome) == "login_required"
