"""Security events: what happened that an administrator may want to hear of, kept for a month."""
