"""Converts functions, values and requests to bytes and back. Clients and engines share this package."""
