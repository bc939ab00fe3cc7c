"""Endpoints of administrators, and those where people look after their own account."""
