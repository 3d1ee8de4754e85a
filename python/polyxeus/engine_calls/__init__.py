"""Functions that clients call on engines.

Requests contain only the name of a function, because client and engine have the same modules. These modules import no
code of clients.
"""
