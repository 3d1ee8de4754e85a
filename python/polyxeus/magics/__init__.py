"""The parallel magics of IPython: %px, %%px, %autopx ... No package that this one uses imports it."""
