"""Runs the cells of a guide in one IPython session: run_session.py PAGE < [(line, kind, text)]

`expression   # -> value` is an error unless the expression gives this value.
"""

import ast
import re
import sys
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

PROMISE = re.compile(r"# -> (.*)$")


def promised(text, node):
    """What the comment behind a statement promises; None where there is no such comment."""
    found = PROMISE.search(text.splitlines()[node.end_lineno - 1])
    return found.group(1).strip() if found else None


def run_python(page, line, text, namespace):
    for node in ast.parse(text).body:
        where = f"{page}:{line + node.lineno - 1}"
        code = ast.Module([node], [])
        wanted = promised(text, node)
        if wanted is None:
            exec(compile(ast.increment_lineno(code, line - 1), page, "exec"), namespace)
            continue
        inner = node.body[-1] if isinstance(node, ast.With) else node
        if not isinstance(inner, ast.Expr):
            sys.exit(f"{where}: what has a value must be an expression")
        namespace["_found"] = None
        assign = ast.Assign([ast.Name("_found", ast.Store())], inner.value)
        if inner is node:
            code.body[0] = assign
        else:
            node.body[-1] = assign
        exec(compile(ast.fix_missing_locations(code), page, "exec"), namespace)
        if repr(namespace["_found"]) != wanted:
            sys.exit(f"{where}: gives {namespace['_found']!r}, not {wanted}")


def main(page):
    shell = InteractiveShell.instance()
    sys.modules["__main__"].__dict__.update(shell.user_ns)
    shell.user_ns = sys.modules["__main__"].__dict__
    for line, kind, text in ast.literal_eval(sys.stdin.read()):
        if kind == "python":
            run_python(Path(page).name, line, text, shell.user_ns)
            continue
        done = shell.run_cell(text)
        if not done.success:
            sys.exit(f"{Path(page).name}:{line}: the cell failed: {done.error_in_exec or done.error_before_exec!r}")


if __name__ == "__main__":
    main(sys.argv[1])
