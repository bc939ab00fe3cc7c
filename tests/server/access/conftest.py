from collections.abc import Iterator

import pytest

from tests.identity.deployment import Deployment, deployed


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with deployed() as running:
        yield running
