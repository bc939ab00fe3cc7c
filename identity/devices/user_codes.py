"""What a person types: RFC 8628 §6.1.

Twenty consonants spell no words and are not mistaken for each other; eight of them are 34 bits, which the limit on
wrong codes makes enough.
"""

from identity.randomness import Randomness

ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"

_GROUP = 4

# The largest multiple of the alphabet's size that an octet holds: beyond it some letters would come more often.
_FAIR = 256 - 256 % len(ALPHABET)


def new_user_code(randomness: Randomness, length: int) -> str:
    letters: list[str] = []
    while len(letters) < length:
        letters += [
            ALPHABET[octet % len(ALPHABET)] for octet in randomness.octets(2 * length) if octet < _FAIR
        ]
    return "".join(letters[:length])


def shown(user_code: str) -> str:
    """In groups of four."""
    return "-".join(user_code[start : start + _GROUP] for start in range(0, len(user_code), _GROUP))


def canonical(typed: str) -> str:
    """Return the code that was meant, whatever its case and what stands between the letters."""
    return "".join(letter for letter in typed.upper() if letter in ALPHABET)
