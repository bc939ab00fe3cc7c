"""A revocation of any kind is effective everywhere, on the node that makes it and on another one."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.revocations import (
    REVOCATIONS,
    Deployment,
    Outcome,
    deployed,
    expected,
    refusals_of,
)


@pytest.fixture(scope="module")
def deployment(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with deployed(postgres_dsn, tmp_path_factory.mktemp("revocations")) as found:
        yield found


@pytest.mark.parametrize("revocation", REVOCATIONS)
async def test_a_revocation_is_effective_at_each_interface_of_each_node(
    deployment: Deployment, revocation: str
) -> None:
    refusals = await refusals_of(deployment, revocation)

    assert set(refusals.before.values()) == {Outcome.ADMITTED}
    assert refusals.after == expected(revocation)
