"""RFC 6238, with the standard's own examples."""

import base64
from datetime import UTC, datetime, timedelta

import pytest

from identity.authentication.one_time_codes.totp import step_of
from identity.authentication.one_time_codes.typed import CodeKind, kind_of

# Appendix B has eight digits; these codes are their last six.
SECRET = base64.b32encode(b"12345678901234567890").decode()
EXAMPLES = [
    (59, "287082"),
    (1_111_111_109, "081804"),
    (1_111_111_111, "050471"),
    (1_234_567_890, "005924"),
    (2_000_000_000, "279037"),
    (20_000_000_000, "353130"),
]


@pytest.mark.parametrize(("seconds", "code"), EXAMPLES)
def test_the_standards_examples_hold(seconds: int, code: str) -> None:
    now = datetime.fromtimestamp(seconds, UTC)

    assert step_of(SECRET, code, now=now, after=0) == seconds // 30


@pytest.mark.parametrize(
    ("late", "is_good"), [(-31, False), (-30, True), (0, True), (29, True), (59, True), (60, False)]
)
def test_a_code_is_good_in_its_step_and_those_beside_it(late: int, *, is_good: bool) -> None:
    begins = datetime.fromtimestamp(1_111_111_110, UTC)

    found = step_of(SECRET, "050471", now=begins + timedelta(seconds=late), after=0)

    assert (found == 37_037_037) is is_good


@pytest.mark.parametrize(("after", "is_good"), [(37_037_036, True), (37_037_037, False), (37_037_038, False)])
def test_a_step_that_was_used_is_used_up_with_all_before(after: int, *, is_good: bool) -> None:
    now = datetime.fromtimestamp(1_111_111_111, UTC)

    assert (step_of(SECRET, "050471", now=now, after=after) is not None) is is_good


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("123456", CodeKind.ONE_TIME),
        (" 123 456 ", CodeKind.ONE_TIME),
        ("ABCDEF-GHIJKL-MNOPQR-STUVWX", CodeKind.RECOVERY),
        ("abcdef ghijkl mnopqr stuvwx", CodeKind.RECOVERY),
        ("12345", None),
        ("1234567", None),
        ("١٢٣٤٥٦", None),
        ("ABCDEF-GHIJKL-MNOPQR-STUVW1", None),
        ("", None),
        ("\0", None),
        ("x" * 48, None),
    ],
)
def test_a_code_is_known_by_its_look(text: str, kind: CodeKind | None) -> None:
    assert kind_of(text) is kind
