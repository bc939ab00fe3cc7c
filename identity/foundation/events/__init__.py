"""Security events for administrators, kept for a month."""
