"""The parallel magics of IPython, such as %px, %%px and %autopx. The packages that this package imports do not import
this package."""
