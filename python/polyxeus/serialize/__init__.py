"""Functions, values and requests as bytes, and back: what clients and engines share."""
