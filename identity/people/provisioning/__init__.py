"""SCIM 2.0 (RFC 7643, RFC 7644): provisioning clients manage users and groups through the administration's services."""
