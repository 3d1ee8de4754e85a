"""Functions that clients call on engines.

A request contains only the name of such a function, because clients and engines have the same modules. These modules do
not import client code.
"""
