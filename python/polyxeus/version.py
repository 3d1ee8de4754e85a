"""The version of the package."""

__version__ = "0.1.0"
version_info = (0, 1, 0)
