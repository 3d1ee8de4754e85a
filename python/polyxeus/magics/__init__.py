"""The parallel magics of IPython, such as %px, %%px and %autopx. Packages that this package imports
must not import this package."""
