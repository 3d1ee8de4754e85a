"""The parallel magics of IPython: %px, %%px, %autopx ... Nothing below imports them."""
