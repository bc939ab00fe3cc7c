"""Proofs that a signed-in user shows before changes of the account."""
