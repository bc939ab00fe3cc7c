"""The device authorization grant, RFC 8628, and the devices that came of it."""
