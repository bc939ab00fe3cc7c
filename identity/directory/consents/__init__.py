"""Consents that users gave to clients, stored until they are withdrawn."""
