import pytest

from tests.server.cli.admin.conftest import Operator
from tests.server.cli.terminal import seen, terminal


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(("partitions",), ["Partition", "Owner"], id="partitions"),
        pytest.param(("leases",), ["Partition", "Owner"], id="leases"),
        pytest.param(("migrations",), ["Number", "Name", "Applied"], id="migrations"),
        pytest.param(("retention",), ["From", "MiB"], id="retention"),
        pytest.param(("verify",), ["Check", "Found"], id="verify"),
    ],
)
def test_a_listing_loses_no_text_to_the_width(
    operator: Operator, command: tuple[str, ...], expected: list[str], width: int
) -> None:
    ended = operator(*command, **terminal(width))

    lines = seen(ended.output)
    assert ended.exit_code == 0
    assert max(map(len, lines)) <= width
    assert "\u2026" not in ended.output
    assert any(all(heading in line.split() for heading in expected) for line in lines), lines
