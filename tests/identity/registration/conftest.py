from collections.abc import Iterator

import pytest

from tests.identity.registration.desk import Desk


@pytest.fixture
def desk() -> Iterator[Desk]:
    """Open to everybody; nobody has an account yet."""
    found = Desk()
    yield found
    found.close()
