"""The OpenAPI document of the provider: declarations beside the handlers, and the document that is built from them."""
