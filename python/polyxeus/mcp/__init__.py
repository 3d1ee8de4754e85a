"""Implements `pxcluster mcp`, a server of the Model Context Protocol with which agents monitor a cluster.

The module `server` needs the package `mcp` of PyPI: `pip install "polyxeus[mcp]"`.
"""
