"""Functions as a client's session defines them."""


def session(code):
    """The namespace of a client's session, in which `code` was run."""
    names = {"__name__": "__main__"}
    exec(compile(code, "<session>", "exec"), names)
    return names
