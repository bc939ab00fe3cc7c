"""Operations of administration that the contract declares have all that their routes need."""

import pytest

from edge.oidc.administration.issuer_routes import IssuerRoute, issuer_routes
from server.platform.policy import CallerKind

ROUTES = list(issuer_routes())


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.rule.address)
def test_a_declared_route_has_a_caller_unless_it_is_for_anybody(route: IssuerRoute) -> None:
    fields = route.policy.descriptor.input_type.fields_by_name

    # Only an edge knows the address of a peer.
    kind = CallerKind.EDGE if route.has("peer_address") else CallerKind.CREDENTIAL
    assert route.has("caller") is (route.policy.caller is kind)
    assert route.has("tenant_id") or route.path.startswith("/tenants")
    if route.has("caller"):
        caller = fields["caller"].message_type
        assert caller is not None
        assert caller.full_name == "gnomon.identity.v1.Caller"


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.rule.address)
def test_a_declared_route_names_fields_and_says_what_it_does(route: IssuerRoute) -> None:
    answer, response = route.rule.answer.partition(".")[0], route.policy.descriptor.output_type.fields_by_name

    assert not answer or answer in response
    assert route.rule.summary.endswith(".")
    fields = route.fields_of_path()
    in_both = {field.name for field in fields.values()} & {field.name for field in route.fields_of_body()}
    assert in_both == {fields[variable].name for variable in route.rule.body.repeated}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.rule.address)
def test_a_rule_of_a_body_goes_with_a_body(route: IssuerRoute) -> None:
    assert route.fields_of_body() or not route.rule.HasField("body")


def test_an_address_is_declared_once() -> None:
    addresses = [route.rule.address for route in ROUTES]

    assert sorted(addresses) == sorted(set(addresses))
