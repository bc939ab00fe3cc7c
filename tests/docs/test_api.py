"""docs/api.md lists every operation of Camunda 8.9 and ours, each with its exchange in memory and durably."""

import pytest

from edge.contract import Route, routes
from server.platform.policy import Mode
from tests.docs.generated_part import assert_generated
from tests.docs.markdown import ROOT
from tests.docs.operations_table import (
    BEGIN,
    END,
    NOT_SERVED,
    Operation,
    camunda_operations,
    exchange_of,
    operations_tables,
    own_operations,
    served,
)

MODES = (Mode.EMBEDDED, Mode.BUNDLED)


@pytest.mark.golden
def test_the_page_is_what_the_contract_and_the_tests_say() -> None:
    assert_generated(ROOT / "docs/api.md", BEGIN, END, operations_tables())


def test_the_list_has_every_operation_of_the_release_once() -> None:
    operations = list(camunda_operations())

    assert len(operations) == 183
    assert len({operation.id for operation in operations}) == 183
    assert len({operation.address for operation in operations}) == 183


def test_every_operation_is_served_but_those_that_are_known_to_be_missing() -> None:
    missing = [operation.id for operation in camunda_operations() if operation.address not in served()]

    assert missing == NOT_SERVED


@pytest.mark.parametrize(
    "operation", [it for it in camunda_operations() if it.address in served()], ids=lambda it: it.id
)
def test_an_operation_of_the_release_has_its_operation_id(operation: Operation) -> None:
    assert served()[operation.address].operation_id == operation.id


def test_every_route_is_on_the_page() -> None:
    known = {operation.address for operation in (*camunda_operations(), *own_operations())}

    assert served().keys() <= known
    assert len(served()) == len(routes())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("route", routes(), ids=lambda route: route.operation_id)
def test_an_operation_succeeds_in_a_golden_exchange_of_each_mode_that_offers_it(
    route: Route, mode: Mode
) -> None:
    is_shown = exchange_of(route, mode) is not None

    assert is_shown is (mode in route.policy.modes)
