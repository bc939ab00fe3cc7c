"""What all tests share."""

import os

from hypothesis import HealthCheck, settings

# Machines are shared and slow down at will: neither an example nor the making of one has a deadline, but their
# number has a bound.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=int(os.environ.get("GNOMON_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")
