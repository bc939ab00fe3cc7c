"""TOTP codes: RFC 6238 with SHA-1, six digits and steps of thirty seconds, as authenticator apps expect."""

import base64
import hmac
from datetime import datetime

from pyotp import TOTP

from identity.foundation.randomness import Randomness

DIGITS = 6

# RFC 4226 §4, R6.
_SECRET_OCTETS = 20
# RFC 6238 §5.2: a code may be one step late, and a clock one step off.
_WINDOW = (-1, 0, 1)


def new_secret(randomness: Randomness) -> str:
    """Return a secret in base32."""
    return base64.b32encode(randomness.octets(_SECRET_OCTETS)).decode()


def step_of(secret: str, code: str, *, now: datetime, after: int) -> int | None:
    """Return the time step of the code, None when it is not valid now.

    Steps up to `after` are used up: RFC 6238 §5.2. The comparison takes constant time.
    """
    generator = _generator(secret)
    this = generator.timecode(now)
    steps = [this + offset for offset in _WINDOW]
    found = [step for step in steps if hmac.compare_digest(generator.generate_otp(step), code)]
    return next((step for step in found if after < step), None)


def otpauth_uri(secret: str, *, account: str, issuer: str) -> str:
    """Return the URI for a QR code."""
    return _generator(secret).provisioning_uri(name=account, issuer_name=issuer)


def _generator(secret: str) -> TOTP:
    return TOTP(secret)
