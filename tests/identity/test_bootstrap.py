from dataclasses import replace
from pathlib import Path

import pytest

from identity.access.tokens.config import TokenConfig
from identity.app import open_identity
from identity.config import IdentityConfig
from identity.directory.password_config import PasswordConfig
from identity.foundation.provider_config import ProviderConfig, Scheme
from identity.seeds import ClientSeed, UserSeed
from server.platform.clock import SystemClock
from server.platform.config import load
from server.platform.records.memory import MemoryRecordStore
from tests.identity.deployment import CONFIG


def test_secrets_of_the_configuration_are_not_shown() -> None:
    assert "s3cret" not in repr(CONFIG)


@pytest.mark.parametrize(
    ("bootstrap", "message"),
    [
        pytest.param({"admin_password": ""}, "admin_password", id="no password"),
        pytest.param({"client_secret": ""}, "expected a secret", id="no secret"),
        pytest.param({"tenant": "oidc"}, "reserved", id="reserved tenant"),
        pytest.param({"tenants": ("Acme",)}, "tenant 'Acme'", id="malformed tenant"),
        pytest.param(
            {"clients": (ClientSeed(id="ab", secret="s", tenants=("nobody",)),)},
            "nobody",
            id="unknown tenant",
        ),
        pytest.param(
            {"clients": (ClientSeed(id="ab", secret="s", permissions=("fly",)),)},
            "fly",
            id="unknown permission",
        ),
        pytest.param(
            {"clients": (ClientSeed(id="service", secret="s"),)}, "found two", id="client comes twice"
        ),
        pytest.param(
            {"users": (UserSeed(email=" Admin@Localhost", password="p"),)},
            "found one twice",
            id="address comes twice",
        ),
    ],
)
async def test_a_bootstrap_section_that_contradicts_itself_is_refused(
    bootstrap: dict[str, object], message: str
) -> None:
    config = replace(CONFIG, bootstrap=replace(CONFIG.bootstrap, **bootstrap))

    with pytest.raises(ValueError, match=message):
        async with open_identity(config, MemoryRecordStore(SystemClock())):
            pass


@pytest.mark.parametrize(
    "members",
    [{"email": "ad\u200ba@example.com"}, {"preferred_username": "ad\u200ba"}, {"given_name": "A\u202eda"}],
    ids=str,
)
def test_a_user_of_the_configuration_has_visible_texts(members: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="visible characters"):
        UserSeed(**({"email": "ada@example.com", "password": "p"} | members))


@pytest.mark.parametrize("public_url", ["", "https://id.example.com", "id.example.com/", "a b", "host:port"])
def test_a_public_address_is_a_host_with_its_port(public_url: str) -> None:
    with pytest.raises(ValueError, match="public_url"):
        ProviderConfig(public_url=public_url)


@pytest.mark.parametrize(
    ("configured", "origin"),
    [
        (ProviderConfig(), "http://127.0.0.1:8080"),
        (ProviderConfig(scheme=Scheme.HTTPS), "https://127.0.0.1:8080"),
        (ProviderConfig(public_url="id.example.com"), "https://id.example.com"),
        (ProviderConfig(public_url="id.example.com", scheme=Scheme.HTTP), "http://id.example.com"),
    ],
)
def test_what_nobody_says_of_the_address_follows_from_where_it_listens(
    configured: ProviderConfig, origin: str
) -> None:
    assert origin == configured.at("127.0.0.1:8080").origin


@pytest.mark.parametrize("seconds", [9, 86_401])
def test_the_lifetime_of_tokens_has_bounds(seconds: int) -> None:
    with pytest.raises(ValueError, match="10 to 86400"):
        TokenConfig(access_token_lifetime_secs=seconds)


@pytest.mark.parametrize("cost", [{"memory_kib": 31}, {"iterations": 0}, {"lanes": 0}, {"workers": 0}])
def test_the_cost_of_passwords_has_bounds(cost: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="passwords"):
        PasswordConfig(**cost)


def test_a_client_id_has_the_alphabet_of_managed_clients() -> None:
    with pytest.raises(ValueError, match="client 'a b'"):
        ClientSeed(id="a b", secret="s")


def test_the_sections_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "gnomon.toml"
    file.write_text("""
        [identity]
        public_url = "id.example.com"
        scheme = "http"
        [bootstrap]
        tenants = ["acme"]
        [[bootstrap.clients]]
        id = "worker"
        secret = "w"
        tenants = ["acme"]
        permissions = ["job:work"]
    """)

    config = load(IdentityConfig, file, {"GNOMON_BOOTSTRAP__CLIENT_SECRET": "from the environment"})

    worker = ClientSeed(id="worker", secret="w", tenants=("acme",), permissions=("job:work",))
    assert config.identity.origin == "http://id.example.com"
    assert config.bootstrap.clients == (worker,)
    assert config.bootstrap.client_secret == "from the environment"
