import pytest

from edge.oidc.config import AccessConfig
from gnomon.identity.v1.session_service_pb2 import BeginSessionRequest
from tests.edge.oidc.protocol.provider import running

LOOPBACK = "127.0.0.0/8"
INNER = "10.0.0.0/8"


@pytest.mark.parametrize(
    ("trusted", "forwarded", "address"),
    [
        pytest.param((), ["192.0.2.7"], "127.0.0.1", id="nobody is trusted"),
        pytest.param((LOOPBACK,), [], "127.0.0.1", id="nothing is forwarded"),
        pytest.param((LOOPBACK,), ["192.0.2.7"], "192.0.2.7", id="one proxy"),
        pytest.param((LOOPBACK,), ["198.51.100.1, 192.0.2.7"], "192.0.2.7", id="a forged hop before it"),
        pytest.param((LOOPBACK, INNER), ["192.0.2.7, 10.1.2.3"], "192.0.2.7", id="two proxies"),
        pytest.param((LOOPBACK, INNER), ["192.0.2.7", "10.1.2.3"], "192.0.2.7", id="two headers"),
        pytest.param((LOOPBACK,), ["2001:db8::7"], "2001:db8::7", id="IPv6"),
        pytest.param((LOOPBACK,), ["::ffff:192.0.2.7"], "192.0.2.7", id="IPv4 in IPv6"),
        pytest.param((LOOPBACK,), ["192.0.2.7, nonsense"], "127.0.0.1", id="no address"),
        pytest.param((LOOPBACK, INNER), [", ".join(["10.0.0.1"] * 500)], "10.0.0.1", id="very many"),
    ],
)
async def test_the_client_is_the_nearest_that_is_not_trusted(
    trusted: tuple[str, ...], forwarded: list[str], address: str
) -> None:
    async with running(AccessConfig(trusted_proxies=trusted)) as provider:
        await provider.http.post(
            "/auth/v1/oidc/session", headers=[("X-Forwarded-For", hops) for hops in forwarded]
        )

        assert provider.asked(BeginSessionRequest).browser.peer_address == address


def test_a_network_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="trusted_proxies"):
        AccessConfig(trusted_proxies=("somewhere",))
