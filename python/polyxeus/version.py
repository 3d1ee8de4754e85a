"""The version of the package."""

__all__ = ["__version__", "version_info"]

__version__ = "0.1.0"
version_info = (0, 1, 0)
