"""IPython options on pxkernel's command line, such as --InteractiveShell.xmode=Plain."""

from polyxeus import _kernel
from polyxeus.kernel.shell import KernelShell

from IPython.core.completer import IPCompleter
from IPython.core.formatters import DisplayFormatter, PlainTextFormatter
from IPython.core.history import HistoryManager

__all__ = ["find_unknown"]


def _classes():
    """Returns {section name: class} for the classes that IPython options can configure."""
    from polyxeus.kernel.start import KernelApplication

    known = {}
    for one in (KernelApplication, KernelShell, IPCompleter, DisplayFormatter, PlainTextFormatter,
                HistoryManager):
        known |= {each.__name__: each for each in one.__mro__ if hasattr(each, "class_traits")}
    # The names that a configuration for ipykernel uses.
    return known | {"ZMQInteractiveShell": KernelShell, "IPKernelApp": None}


def find_unknown(options):
    """Returns an error message about the first option with a misspelled class or trait; None if there is no such
    option.

    The function accepts the name of a class that differs from all known names in more than one letter, because the
    class may belong to an extension. IPython accepts any class.
    """
    known = _classes()
    for option in options:
        name = option.partition("=")[0].lstrip("-")
        section, dot, trait = name.partition(".")
        if not dot:
            continue
        if section not in known:
            meant = min(known, key=lambda each: _kernel.edit_distance(section, each))
            if _kernel.edit_distance(section, meant) == 1:
                return f"unknown option --{name}; did you mean --{meant}.{trait}?"
            continue
        if known[section] is None or "." in trait:
            continue
        traits = known[section].class_trait_names(config=True)
        if trait not in traits:
            meant = _kernel.nearest_name(trait, traits)
            advice = f"did you mean --{section}.{meant}?" if meant else "see the manual of IPython"
            return f"unknown option --{name}; {advice}"
    return None
