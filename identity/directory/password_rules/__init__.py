"""Rules for new passwords: the reasons of refusals, and lists of breached passwords."""
