"""The directory of users and clients, and their permissions."""
