"""The platform's, under the name that the store knows."""

from server.platform.postgres.outage import FAULTS, is_outage

__all__ = ["FAULTS", "is_outage"]
