"""Terms of use of a tenant: published versions, their texts, and the acceptances of users."""
