"""Completes and inspects names of the engines' variables in %px lines and %%px cells. Also
completes the options of the magics and the commands of %pxcluster."""

import re

from polyxeus import _client
from polyxeus.client import pxcluster
from polyxeus.magics.cell_mode import MODES, engines_of

__all__ = ["RemoteNames"]

_HEAD = re.compile(r"(\s*%{1,2}px(\w*))(?:[^\S\n]|\n|$)")
_LINE = re.compile(r"(\s*%px(\w*)[^\S\n]+)")
_MODE = re.compile(r"\s*%pxmode\w*\s+(\w*)")
_MAGIC = re.compile(r"[^\S\n]*(%{1,2})(\w+)")


class RemoteNames:
    """Completes and describes names in code for engines. For each name, the class asks the first
    engine of the view. If this engine does not answer in time, IPython uses only the names that are
    defined in this process."""

    def __init__(self, shell, loaded):
        self._shell = shell
        self._loaded = loaded
        self._inspect = None

    def hook(self):
        completer = getattr(self._shell, "Completer", None)
        if hasattr(completer, "custom_matchers"):
            completer.custom_matchers.append(self._make_matcher())
        kernel = getattr(self._shell, "kernel", None)
        if hasattr(kernel, "do_inspect"):
            self._inspect = kernel.do_inspect
            kernel.do_inspect = self._do_inspect

    def unhook(self):
        completer = getattr(self._shell, "Completer", None)
        if hasattr(completer, "custom_matchers"):
            completer.custom_matchers[:] = [
                each
                for each in completer.custom_matchers
                if getattr(each, "matcher_identifier", "") != "polyxeus"
            ]
        if self._inspect is not None:
            del self._shell.kernel.do_inspect
            self._inspect = None

    # ------------------------------------------------------------ the code for engines

    def remote_part(self, text, cursor):
        """Finds the code for engines in a cell. Returns (magics, engines, code, position of the
        cursor in this code), or None if the text is not for engines. If `engines` is None, the
        code is for the engines of the view."""
        cell = _HEAD.match(text)
        if cell and cell.group(1).lstrip().startswith("%%"):
            begin = text.find("\n") + 1
            suffix = cell.group(2)
        else:
            line_begin = text.rfind("\n", 0, cursor) + 1
            line = _LINE.match(text, line_begin)
            begin = line.end() if line else 0
            suffix = line.group(2) if line else None
            if line:
                line_end = text.find("\n", begin)
                text = text if line_end < 0 else text[:line_end]
        if suffix is None:
            return self._by_mode(text, cursor)
        magics = self._loaded.sets.get(suffix)
        if magics is None or not begin or cursor < begin:
            return None
        return magics, None, text[begin:], cursor - begin

    def _by_mode(self, text, cursor):
        """Does the same as remote_part() for a text without a %px magic, which runs on engines only
        in some modes of the notebook."""
        if not self._loaded.routing.is_for_engines(text):
            return None
        mode = self._loaded.session.mode
        return self._loaded.sets[mode.suffix], engines_of(mode.text), text, cursor

    @staticmethod
    def _engine(magics, engines):
        """Returns (the connection, the id of the first engine in `engines`); None if there is no
        connection yet.

        engines  the engines; None stands for the engines of the view
        """
        view = magics.session.open_view if magics._given_view is None else magics._given_view
        if view is None:
            return None
        _, ids = view.client._build_targets(view.targets if engines is None else engines)
        return view.client._connection, ids[0]

    # ------------------------------------------------------------ options and commands

    @staticmethod
    def complete_magic(text, cursor):
        """Completes the line of a magic. Returns (the matching options, commands or modes; the
        fragment that they replace), or None."""
        line = text[text.rfind("\n", 0, cursor) + 1 : cursor]
        if mode := _MODE.fullmatch(line):
            return [word for word in MODES if word.startswith(mode[1])], mode[1]
        try:
            return _client.complete_magic(
                line,
                lambda command: pxcluster.run([*command.split(), "--help"]),
            )
        except Exception:
            return None

    # ------------------------------------------------------------ completion and inspection

    def complete(self, text, cursor):
        """Completes a name in code for engines. Returns (matches, the fragment that they replace),
        or None."""
        try:
            part = self.remote_part(text, cursor)
            if part is None:
                return None
            magics, engines, code, at = part
            found = self._engine(magics, engines)
            reply = found and _client.complete_remotely(*found, code, at)
        except Exception:
            return None
        if not reply or not reply.get("matches"):
            return None
        return reply["matches"], code[reply["cursor_start"] : at]

    def _make_matcher(self):
        from IPython.core.completer import SimpleCompletion, context_matcher

        @context_matcher(identifier="polyxeus")
        def matcher(context):
            cursor = sum(len(line) + 1 for line in context.full_text.split("\n")[: context.cursor_line])
            cursor += context.cursor_position
            found = self.complete_magic(context.full_text, cursor)
            found = found or self.complete(context.full_text, cursor)
            if found is None:
                return {"completions": []}
            matches, fragment = found
            return {
                "completions": [SimpleCompletion(text=match) for match in matches],
                "matched_fragment": fragment,
                "suppress": True,
            }

        return matcher

    def _magic_at(self, code, cursor):
        """Returns the magic of polyxeus, like "%%px", if the cursor is in its name or in its
        options; otherwise None."""
        begin = code.rfind("\n", 0, cursor) + 1
        found = _MAGIC.match(code, begin)
        if found is None or (found.group(1) == "%%" and code[:begin].strip()):
            return None
        marks, name = found.groups()
        kind = "cell" if marks == "%%" else "line"
        sets = self._loaded.sets
        is_ours = any(name in each.magics[kind] for each in sets.values())
        has_code = kind == "line" and name[2:] in sets and cursor > found.end()
        return marks + name if is_ours and not has_code else None

    def inspect(self, code, cursor, detail_level=0):
        """Returns the content of the inspect_reply if the name belongs to an engine or is a magic
        of polyxeus; None if IPython must answer."""
        magic = self._magic_at(code, cursor)
        if magic is not None:
            data = self._shell.object_inspect_mime(magic, detail_level=detail_level)
            return {"status": "ok", "found": True, "data": data, "metadata": {}}
        try:
            part = self.remote_part(code, cursor)
            if part is None:
                return None
            magics, engines, remote_code, at = part
            found = self._engine(magics, engines)
            reply = found and _client.inspect_remotely(*found, remote_code, at, detail_level)
        except Exception:
            return None
        return reply if reply and reply.get("found") else None

    def _do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        reply = self.inspect(code, cursor_pos, detail_level)
        if reply is not None:
            return reply
        return self._inspect(code, cursor_pos, detail_level, omit_sections)
