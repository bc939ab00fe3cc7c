"""SAML 2.0 Web Browser SSO for applications; this provider is the identity provider."""
