import resource
from collections.abc import Iterator

import pytest

from server.platform.open_files import MOST_OPEN_FILES, open_file_limit, raise_open_file_limit


@pytest.fixture(autouse=True)
def _limit_of_this_process() -> Iterator[None]:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def test_the_limit_is_raised_as_far_as_it_may_be() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))

    raise_open_file_limit()

    assert open_file_limit() == (
        MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
    )
