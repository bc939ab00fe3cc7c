import pytest

from identity.foundation.provider_config import ProviderConfig, Scheme
from identity.foundation.tenants import Tenant, Tenants, tenant_id_of
from server.platform.call import TenantId
from server.platform.errors import NotFound

TENANTS = Tenants("https://id.example.com", TenantId("default"), [TenantId("acme")])


def test_the_default_tenants_issuer_stands_at_the_prefix() -> None:
    default = Tenant(TenantId("default"), "https://id.example.com/auth/v1/")

    assert default == TENANTS.find("") == TENANTS.find("default")


def test_another_tenants_issuer_stands_below() -> None:
    assert Tenant(TenantId("acme"), "https://id.example.com/auth/v1/acme/") == TENANTS.find("acme")


@pytest.mark.parametrize("hostname", ["", "acme.example.com"])
def test_an_issuer_stands_below_its_origin(hostname: str) -> None:
    tenants = Tenants("https://id.example.com:8443", TenantId("default"))

    tenant = Tenant(TenantId("acme"), tenants.issuer_of(TenantId("acme"), hostname))

    assert f"https://{hostname or 'id.example.com'}:8443" == tenant.origin


def test_an_unknown_tenant_is_not_found() -> None:
    with pytest.raises(NotFound):
        TENANTS.find("umbrella")


@pytest.mark.parametrize("slug", ["a", "acme", "acme-2", "0", "a" * 32])
def test_a_tenant_may_be_called(slug: str) -> None:
    assert slug == tenant_id_of(slug)


@pytest.mark.parametrize(
    "slug", ["oidc", "users", "fed_cm", ".well-known", "Acme", "a/b", "", "a" * 33, "-a", "a-", "ä", "a\n"]
)
def test_a_tenant_may_not_be_called(slug: str) -> None:
    with pytest.raises(ValueError, match="tenant"):
        tenant_id_of(slug)


def test_t24_an_issuer_keeps_the_port_and_the_scheme_of_the_configuration() -> None:
    config = ProviderConfig(public_url="localhost:8080", scheme=Scheme.HTTP)

    assert Tenants(config.origin, TenantId("default")).default.issuer == "http://localhost:8080/auth/v1/"
