"""What all tests share."""

import os

from hypothesis import HealthCheck, settings

# Machines are shared and slow down at will: an example has no deadline, a run has a bound of examples.
settings.register_profile(
    "default", deadline=None, max_examples=int(os.environ.get("GNOMON_EXAMPLES", "100"))
)
settings.load_profile("default")
