"""Functions that clients call on engines.

They are sent by name, and client and engine have the same module. So these modules import no code of clients.
"""
