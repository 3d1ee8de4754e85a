"""Functions that clients call on engines.

A request contains only the name of such a function, because clients and engines have the same
modules. The modules of this package do not import client code.
"""
