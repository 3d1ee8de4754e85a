"""The Python part of pxengine: the user's IPython, which the C++ core (polyxeus._engine) calls."""
