"""Logout: by relying parties, by users, and notification of relying parties."""
