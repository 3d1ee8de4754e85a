"""Functions that clients call on engines.

They travel by the name of their module, so that client and engine have the same: what is here
imports nothing of a client.
"""
