"""SCIM applications: clients to whose SCIM 2.0 service the provider writes the users and groups of its tenant."""
