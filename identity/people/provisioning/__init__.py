"""SCIM 2.0 (RFC 7643, RFC 7644): provisioning clients look after users and groups by the administration's services."""
