"""Progress bars."""

import sys

__all__ = ["has_widgets", "is_notebook", "progress", "shows_text_alone"]


def is_notebook():
    """Returns whether this process is a Jupyter kernel."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def shows_text_alone():
    """Returns whether this process is IPython in a terminal, which shows only text."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return get_ipython() is not None and not is_notebook()


def progress(*args, widget=None, **kwargs):
    """Returns a tqdm progress bar.

    widget  whether the bar is a notebook widget. None means only in notebooks with ipywidgets
    """
    if widget is None:
        widget = is_notebook() and has_widgets()
    if widget:
        from tqdm.notebook import tqdm_notebook

        return tqdm_notebook(*args, **kwargs)
    from tqdm import tqdm

    kwargs.setdefault("file", sys.stdout)
    return tqdm(*args, **kwargs)


def has_widgets():
    """Returns whether ipywidgets is installed in this Python."""
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return False
    return True
