from collections.abc import Iterator

import pytest

from tests.certification.relying_party import RelyingParty
from tests.people.person import Person
from tests.people.provider import Provider
from tests.people.provider import provider as running


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    with running() as started:
        yield started


@pytest.fixture
def person(provider: Provider) -> Iterator[Person]:
    with provider.person() as somebody:
        yield somebody


@pytest.fixture(params=["query", "form_post"])
def party(request: pytest.FixtureRequest, provider: Provider, person: Person) -> RelyingParty:
    """Of the Basic plan, and of the Form Post plan, which runs the same modules."""
    return RelyingParty(provider, person, response_mode=request.param)
