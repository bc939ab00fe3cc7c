"""The platform's, under the name that the store knows."""

from server.platform.postgres.database import Database

__all__ = ["Database"]
