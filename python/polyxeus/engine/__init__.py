"""The Python half of pxengine: the user's IPython behind the C++ core (polyxeus._engine)."""
