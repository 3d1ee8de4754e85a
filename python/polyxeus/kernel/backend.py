"""The functions that the C++ core calls in a kernel: the functions of the engine's backend, and functions for requests
from a Jupyter front end."""

import sys

from polyxeus.engine import forked, interrupts, json_text
from polyxeus.engine.backend import Backend


class KernelBackend(Backend):
    """The backend of one kernel. Only the main thread calls its methods."""

    def __init__(self, shell, kernel, cells):
        super().__init__(shell, kernel)
        self.cells = cells

    # ------------------------------------------------------------ cells

    def execute(self, code, silent, store_history, user_expressions, count):
        shell = self.shell
        code = code.decode()
        shell.last_traceback = None
        if not silent:
            self._publish_input(code)
        content = {"status": "ok", "user_expressions": {}, "payload": []}
        try:
            with interrupts.undebugged():
                result = self.cells.run(code, store_history=store_history, silent=silent)
            forked.end_child(result.error_before_exec or result.error_in_exec)
            if result.success:
                expressions = json_text.load(user_expressions)
                content["user_expressions"] = shell.user_expressions(expressions)
            else:
                error = result.error_before_exec or result.error_in_exec
                content.update(self._error_content(error))
        except BaseException as error:  # an interrupt outside the user's code, or exit() in a thread
            forked.end_child(error)
            shell.showtraceback()
            content.update(self._error_content(error))
        content["execution_count"] = shell.execution_count - 1
        content["payload"] = shell.payload_manager.read_payload()
        shell.payload_manager.clear_payload()
        self._forget_outputs()
        return json_text.dump(content)

    def _publish_input(self, code):
        core = self.shell.engine
        core.begin_cell()
        content = {"code": code, "execution_count": self.shell.execution_count}
        core.publish("execute_input", json_text.dump(content))

    # ------------------------------------------------------------ completion and inspection of code

    def complete(self, code, cursor):
        from IPython.core.completer import provisionalcompleter, rectify_completions

        text = code.decode()
        with provisionalcompleter():
            found = list(rectify_completions(text, self.shell.Completer.completions(text, cursor)))
        if found:
            start, end = found[0].start, found[0].end
        else:
            start = end = cursor
        kinds = [{"start": each.start, "end": each.end, "text": each.text, "type": each.type,
                  "signature": each.signature} for each in found]
        return json_text.dump({
            "status": "ok",
            "matches": [each.text for each in found],
            "cursor_start": start,
            "cursor_end": end,
            "metadata": {"_jupyter_types_experimental": kinds},
        })

    def inspect(self, code, cursor, detail_level):
        """Describes a name. If the code is in a %px line, an engine describes the name."""
        magics = getattr(self.shell, "_polyxeus_magics", None)
        there = magics and magics.names.inspect(code.decode(), cursor, detail_level)
        return json_text.dump(there) if there else super().inspect(code, cursor, detail_level)

    def history(self, request):
        content = json_text.load(super().history(request))
        number = self.shell.history_manager.session_number
        for entry in content["history"]:
            entry[0] = entry[0] or number  # in a range, IPython gives the current session the number 0
        return json_text.dump(content)

    def kernel_info(self):
        content = json_text.load(super().kernel_info())
        content["protocol_version"] = "5.4"
        content["language_info"]["codemirror_mode"]["version"] = sys.version_info.major
        content["help_links"] = [
            {"text": "Python", "url": f"https://docs.python.org/{sys.version_info.major}."
                                      f"{sys.version_info.minor}"},
            {"text": "IPython", "url": "https://ipython.org/documentation.html"},
        ]
        content["supported_features"] = []
        return json_text.dump(content)

    # ------------------------------------------------------------ comms

    def comm(self, message_type, content, metadata=b"{}", buffers=()):
        self.shell.engine.begin_cell()
        super().comm(message_type, content, metadata, buffers)
