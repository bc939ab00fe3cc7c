"""Authorization details of a tenant: their texts, their types, and the fields of a type: RFC 9396."""
