"""Another tenant's keys, ids, tenants, filters and cursors: to whatever operation, they show and change nothing.

Requests come from the descriptors: a new operation, reference or filter is tried without a line here.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import pytest
from google.protobuf.message import Message

from server.platform.policy import Mode, Policy
from tests.end_to_end.tenancy.filters import filters, values_of
from tests.end_to_end.tenancy.probes import Reference, base_request, references, request_with
from tests.end_to_end.tenancy.tenants import OPERATIONS, OWNER, Refusal, Tenants, compared, is_read, outcome
from tests.end_to_end.tenancy.world import Principal
from tests.waits import until_others


def each(policies: Sequence[Policy]) -> pytest.MarkDecorator:
    """Return the policies of the mode."""
    pairs = [
        pytest.param(mode, policy, id=f"{mode}-{policy.name}")
        for mode in (Mode.EMBEDDED, Mode.BUNDLED)
        for policy in policies
        if mode in policy.modes
    ]
    return pytest.mark.parametrize(("mode", "policy"), pairs)


def each_service(policies: Sequence[Policy]) -> pytest.MarkDecorator:
    """Return the policies of the mode, those of one service together: a view of all that the owner sees is dear."""
    by_service = groupby(sorted(policies, key=_service), key=_service)
    pairs = [
        pytest.param(mode, offered, id=f"{mode}-{service}")
        for service, those in [(service, list(those)) for service, those in by_service]
        for mode in (Mode.EMBEDDED, Mode.BUNDLED)
        if (offered := [policy for policy in those if mode in policy.modes])
    ]
    return pytest.mark.parametrize(("mode", "policies"), pairs)


def _service(policy: Policy) -> str:
    return policy.path.split("/")[1]


def _has(policy: Policy, field: str) -> bool:
    return field in policy.request.DESCRIPTOR.fields_by_name


READS = [policy for policy in OPERATIONS if is_read(policy)]
NAMING = [policy for policy in OPERATIONS if any(references(policy))]
LISTS = [policy for policy in READS if "items" in policy.response.DESCRIPTOR.fields_by_name]
FILTERED = [policy for policy in LISTS if _has(policy, "filter")]
PAGED = [policy for policy in LISTS if _has(policy, "page")]


@each(READS)
def test_an_owner_sees_what_it_owns(tenants: Tenants, policy: Policy) -> None:
    """The other tests need an owner that has an entity of each kind."""
    answer = outcome(tenants.owner, policy, base_request(policy, tenants.owned))

    assert not isinstance(answer, Refusal), answer
    if policy in LISTS:
        assert answer.items


@each_service(NAMING)
def test_what_another_tenant_owns_is_like_what_does_not_exist(
    tenants: Tenants, policies: Sequence[Policy]
) -> None:
    for policy in policies:
        for reference in references(policy):
            if not reference.is_given:
                _compare_with_unknown(tenants, policy, reference)

    until_others(tenants.batch_operations_are_over)
    assert tenants.owners_view() == tenants.before


def _compare_with_unknown(tenants: Tenants, policy: Policy, reference: Reference) -> None:
    value, named = tenants.owned[reference.fact], f"{policy.name}.{reference}"
    sent = request_with(policy, tenants.own, reference, value)
    other = request_with(policy, tenants.own, reference, reference.unknown)
    callers = _callers(tenants, reference.fact)

    outcomes = _outcomes(policy, [(caller, request) for caller in callers for request in (sent, other)])

    for foreign, unknown in zip(outcomes[::2], outcomes[1::2], strict=True):
        assert compared(foreign, value) == compared(unknown, reference.unknown), named
        assert _is_understood(foreign), (named, foreign)
        assert not tenants.traces_of_owner(foreign, sent), named


def _outcomes(policy: Policy, calls: Sequence[tuple[Principal, Message]]) -> Sequence[object]:
    """Send the requests one after the other, or streams at once: each waits for its deadline."""
    with ThreadPoolExecutor(len(calls) if policy.is_stream else 1) as threads:
        return list(threads.map(lambda call: outcome(call[0], policy, call[1]), calls))


def _callers(tenants: Tenants, fact: str) -> Sequence[Principal]:
    """The visitor may act in the owner's tenant as well."""
    return (tenants.stranger,) if fact in {"tenant_id", "client_id"} else (tenants.stranger, tenants.visitor)


def _is_understood(outcome: object) -> bool:
    """Whether the server checked more than the form of the request."""
    if not isinstance(outcome, Refusal) or outcome.code != "INVALID_ARGUMENT":
        return True
    return "cannot be modified" in outcome.text or "cannot search by this property" in outcome.text


@each(LISTS)
def test_a_newcomer_finds_nothing(tenants: Tenants, policy: Policy) -> None:
    sent = base_request(policy, tenants.owned)

    answer = outcome(tenants.newcomer, policy, sent)

    assert not tenants.traces_of_owner(answer, sent)


@each(FILTERED)
def test_no_filter_finds_what_another_tenant_owns(tenants: Tenants, policy: Policy) -> None:
    sent = base_request(policy, tenants.owned)
    owners = outcome(tenants.owner, policy, sent)

    for filter_ in filters(policy, values_of(owners.items)):
        sent = base_request(policy, tenants.own)
        sent.MergeFrom(policy.request(filter=filter_))
        for caller in (tenants.stranger, tenants.visitor, tenants.newcomer):
            answer = outcome(caller, policy, sent)

            assert _is_understood(answer), (filter_, answer)
            assert not tenants.traces_of_owner(answer, sent), filter_


@each(PAGED)
def test_a_cursor_of_another_tenant_leads_nowhere(tenants: Tenants, policy: Policy) -> None:
    owners = outcome(tenants.owner, policy, base_request(policy, tenants.owned))
    cursors = {"after": owners.page.start_cursor, "before": owners.page.end_cursor}

    for position, cursor in cursors.items():
        sent = base_request(policy, tenants.own)
        if position in sent.page.DESCRIPTOR.fields_by_name:
            setattr(sent.page, position, cursor)
            for caller in (tenants.stranger, tenants.visitor, tenants.newcomer):
                assert not tenants.traces_of_owner(outcome(caller, policy, sent), sent)


@each(OPERATIONS)
def test_naming_a_tenant_in_the_metadata_opens_it_to_nobody(tenants: Tenants, policy: Policy) -> None:
    sent = base_request(policy, tenants.owned)

    answer = outcome(tenants.stranger.naming(OWNER), policy, sent)

    assert isinstance(answer, Refusal)
    assert answer.code == "PERMISSION_DENIED"
