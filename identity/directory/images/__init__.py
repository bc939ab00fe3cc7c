"""Uploaded images: decode and re-encode, store with their owner, and serve."""
