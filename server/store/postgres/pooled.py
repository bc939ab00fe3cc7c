"""The platform's, under the name that the store knows."""

from server.platform.postgres.pooled import ACQUIRE_SECONDS, PooledDatabase

__all__ = ["ACQUIRE_SECONDS", "PooledDatabase"]
