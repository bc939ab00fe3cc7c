"""Values that cannot be guessed."""

import string
from collections import Counter

import pytest

from identity.foundation.randomness import SystemRandomness

ALPHABET = string.ascii_letters + string.digits


@pytest.mark.parametrize("length", [0, 1, 8, 24, 64, 1000])
def test_a_text_has_its_length_and_letters_and_digits_alone(length: int) -> None:
    text = SystemRandomness().alphanumeric(length)

    assert len(text) == length
    assert set(text) <= set(ALPHABET)


def test_every_letter_is_as_likely_as_any_other() -> None:
    """Beyond this distance is one run of many billions."""
    expected = 2000
    found = Counter(SystemRandomness().alphanumeric(expected * len(ALPHABET)))

    distance = sum((found[letter] - expected) ** 2 / expected for letter in ALPHABET)

    assert distance < 150
