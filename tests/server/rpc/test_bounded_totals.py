"""A page of the console counts up to a bound; every other caller gets the exact total."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import pytest

from gnomon.engine.v1 import process_instance_service_pb2 as pb
from server.platform.call import BOUNDED_TOTAL, Call, TenantId
from server.platform.peer import LOCAL_EDGE, UNKNOWN, Peer
from server.platform.policy import policies_of, services
from server.platform.query import Page, Query
from server.rpc.reads import MOST_TOTAL, search
from server.store.searchables import PROCESS_INSTANCES

if TYPE_CHECKING:
    from server.store.ports import Store

POLICIES = {name: policy for service in services() for name, policy in policies_of(service).items()}
ASKED = {BOUNDED_TOTAL: "yes"}


class Counting:
    """A store that has more matches than a page counts."""

    def __init__(self) -> None:
        self.queries: list[Query] = []

    async def search(self, _entity: type, query: Query, *, tenant_id: str) -> Page[Any]:
        assert tenant_id == "default"
        self.queries.append(query)
        return Page([], query.most_total or 900_000, has_more_total=query.most_total is not None)


@pytest.mark.parametrize(
    ("peer", "metadata", "expected"),
    [
        pytest.param(LOCAL_EDGE, ASKED, (MOST_TOTAL, True), id="a page of the console"),
        pytest.param(LOCAL_EDGE, {}, (900_000, False), id="a request that an edge passes on"),
        pytest.param(UNKNOWN, ASKED, (900_000, False), id="a client that claims to be an edge"),
    ],
)
async def test_only_an_edge_may_ask_for_a_bounded_total(
    peer: Peer, metadata: Mapping[str, str], expected: tuple[int, bool]
) -> None:
    request = pb.SearchProcessInstancesRequest()
    policy = next(each for each in POLICIES.values() if each.name == "SearchProcessInstances")
    call = Call(policy, request, metadata, peer=peer, tenant_id=TenantId("default"))
    store = Counting()

    found = await search(
        cast("Store", store), PROCESS_INSTANCES, request, pb.SearchProcessInstancesResponse, call
    )

    assert (found.page.total_items, found.page.has_more_total_items) == expected
