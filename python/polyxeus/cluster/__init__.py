"""Starts and stops clusters by the program pxcluster."""
