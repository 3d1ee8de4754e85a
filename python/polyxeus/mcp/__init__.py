"""Implements `pxcluster mcp`, a Model Context Protocol server with which agents monitor a cluster.

The module `server` needs the package `mcp` from PyPI: `pip install "polyxeus[mcp]"`.
"""
