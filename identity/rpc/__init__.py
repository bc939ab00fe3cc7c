"""One servicer per service: check, delegate, map."""
