"""User codes of the device grant: RFC 8628 §6.1.

The alphabet has twenty consonants, which spell no words and are hard to confuse. Eight of them have 34 bits, which
suffices with the limit on wrong codes.
"""

from identity.foundation.randomness import Randomness

ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"

_GROUP = 4

# The largest multiple of the alphabet's size within an octet; larger values would favour some letters.
_FAIR = 256 - 256 % len(ALPHABET)


def new_user_code(randomness: Randomness, length: int) -> str:
    letters: list[str] = []
    while len(letters) < length:
        letters += [
            ALPHABET[octet % len(ALPHABET)] for octet in randomness.octets(2 * length) if octet < _FAIR
        ]
    return "".join(letters[:length])


def shown(user_code: str) -> str:
    """Return the code in groups of four."""
    return "-".join(user_code[start : start + _GROUP] for start in range(0, len(user_code), _GROUP))


def canonical(typed: str) -> str:
    """Return the code without separators and in upper case."""
    return "".join(letter for letter in typed.upper() if letter in ALPHABET)
