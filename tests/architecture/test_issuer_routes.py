"""Operations of administration that the contract declares have all that their routes need."""

import pytest

from edge.oidc.administration.issuer_routes import IssuerRoute, issuer_routes
from server.platform.policy import CallerKind

ROUTES = list(issuer_routes())


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.rule.address)
def test_a_declared_route_is_of_a_call_with_a_tenant_and_a_caller(route: IssuerRoute) -> None:
    fields = route.policy.descriptor.input_type.fields_by_name

    assert route.policy.caller is CallerKind.CREDENTIAL
    caller = fields["caller"].message_type
    assert "tenant_id" in fields
    assert caller is not None
    assert caller.full_name == "gnomon.identity.v1.Caller"


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.rule.address)
def test_a_declared_route_names_fields_and_says_what_it_does(route: IssuerRoute) -> None:
    answer, response = route.rule.answer, route.policy.descriptor.output_type.fields_by_name

    assert not answer or answer in response
    assert route.rule.summary.endswith(".")
    assert {field.name for field in route.fields_of_path().values()}.isdisjoint(
        field.name for field in route.fields_of_body()
    )


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.rule.address)
def test_a_body_goes_with_a_method_that_has_one(route: IssuerRoute) -> None:
    assert bool(route.fields_of_body()) is (route.method in {"POST", "PUT"})


def test_an_address_is_declared_once() -> None:
    addresses = [route.rule.address for route in ROUTES]

    assert sorted(addresses) == sorted(set(addresses))
