"""The device authorization grant, RFC 8628, and authorized devices."""
