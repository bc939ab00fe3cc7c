"""Facts about requests and their callers: origin, address, credentials, cookies; policies of endpoints."""
