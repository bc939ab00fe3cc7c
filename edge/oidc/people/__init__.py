"""Endpoints about users, for administrators and for users themselves."""
