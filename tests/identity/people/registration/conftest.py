from collections.abc import Iterator

import pytest

from tests.identity.people.registration.desk import Desk


@pytest.fixture
def desk() -> Iterator[Desk]:
    """Open registration, without any account."""
    found = Desk()
    yield found
    found.close()
