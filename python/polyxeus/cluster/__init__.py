"""Starts and stops clusters with the program pxcluster."""
