"""The functions that the C++ core calls. Their arguments are parts of requests, and they return the
contents of replies as JSON text."""

import signal
import sys

from polyxeus.engine import apply, debugger, forked, interrupts, json_text, native, process_groups, tracebacks
from polyxeus.engine.new_arrays import is_new
from polyxeus.serialize import functions, tensors
from polyxeus.version import __version__

_OK = b'{"status": "ok"}'


def _describe(error):
    try:
        return str(error)
    except Exception as failure:
        return f"Failed to cast exception to string: {failure}"


class Backend:
    """The backend of one engine. Only the main thread calls its methods."""

    def __init__(self, shell, kernel, tasks=None):
        self.shell = shell
        self.kernel = kernel
        self.tasks = tasks  # the TaskRunner of an engine
        functions.set_namespace(shell.user_ns)
        self.signals = -1  # the descriptor that signal.set_wakeup_fd() makes readable

    def set_engine_id(self, engine_id):
        self.kernel.engine_id = engine_id
        tensors.set_engine_id(engine_id)

    # ------------------------------------------------------------ cells

    def execute(self, code, silent, store_history, user_expressions, count):
        shell = self.shell
        code = code.decode()
        shell.last_traceback = None
        if not silent:
            count = shell.execution_count = shell.take_count(count)
        try:
            process_groups.begin_request()
            with interrupts.undebugged(), self.tasks.running():
                result = shell.run_cell(code, store_history=store_history and not silent,
                                        silent=silent)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as failure:
            self._end_request(failure)
            raise
        self._end_request(error)
        forked.end_child(error)
        content = {"execution_count": count, "user_expressions": {}, "payload": []}
        if result.success:
            content["status"] = "ok"
            content["user_expressions"] = shell.user_expressions(json_text.load(user_expressions))
        else:
            content.update(self._error_content(error))
        content["payload"] = shell.payload_manager.read_payload()
        shell.payload_manager.clear_payload()
        self._forget_outputs()
        self._leave_if_asked()
        return json_text.dump(content)

    @staticmethod
    def _end_request(error):
        """Tells process_groups that the user's code has ended, because other ranks may wait for
        this rank. If an interrupt arrives in the meantime, the method repeats this report.

        error  the exception of the user's code, or None
        """
        late = None
        while True:
            try:
                debugger.end_request()
                process_groups.end_request(late or error)
                break
            except KeyboardInterrupt as interrupt:
                late = interrupt
        if late is not None and error is None:
            raise late

    def _error_content(self, error):
        return {
            "status": "error",
            "ename": type(error).__name__,
            "evalue": _describe(error),
            "traceback": self.shell.last_traceback or [],
            "exception": tracebacks.described(error),
        }

    def _leave_if_asked(self):
        """Ends the engine if the request has called exit(). The method is called at the end of the
        request, so that exit() does not interrupt running code."""
        if self.shell.is_leaving:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            self.shell.engine.stop()

    def _forget_outputs(self):
        """Removes the displays that IPython 9 keeps for its magic %notebook, which exports the history."""
        outputs = getattr(self.shell.history_manager, "outputs", None)
        if outputs:
            outputs.clear()

    # ------------------------------------------------------------ apply

    def apply(self, buffers):
        """Runs an apply request. Returns (is_ok, is_unmet_dependency, content, buffers of the result)."""
        shell = self.shell
        self.tasks.make_current()
        try:
            process_groups.begin_request()
            function, args, kwargs = apply.unpack(buffers, shell.user_ns)
            result = function(*args, **kwargs)
            forked.end_child()
            self._end_request(None)
            return True, False, _OK, apply.pack(result, is_new(result))
        except BaseException as error:
            forked.end_child(error)
            shell.last_traceback = None
            try:
                shell.showtraceback()
            except Exception as failure:
                self.kernel.log.error("cannot format the traceback of %r: %s", error, failure)
            self._end_request(error)
            return self._failure(error)

    def _failure(self, error):
        content = self._error_content(error)
        self._leave_if_asked()
        unmet = content["ename"] == "UnmetDependency"
        return False, unmet, json_text.dump(content), []

    # ------------------------------------------------------------ push, pull, call

    def serve(self, kind, content, buffers, copied_from=native.NEVER):
        """Handles a native request. The result has the same form as the result of apply().

        copied_from  a number of bytes. The caller copies buffers of at least this size as soon as
                     the method returns
        """
        self.tasks.make_current()
        is_call = kind == b"call_request"
        try:
            if is_call:
                process_groups.begin_request()
            content, buffers = native.serve(
                kind, content, buffers, functions, copied_from
            )
            forked.end_child()
            if is_call:
                self._end_request(None)
            return True, False, content, buffers
        except BaseException as error:
            forked.end_child(error)
            if isinstance(error, NameError):
                functions.explain(error, f"engine {self.kernel.engine_id}")
            self._format_quietly(error)
            if is_call:
                self._end_request(error)
            return self._failure(error)

    def _format_quietly(self, error):
        """Stores the traceback in the shell and publishes nothing, because the reply contains the error."""
        shell = self.shell
        shell.last_traceback = None
        trace = native.user_traceback(error)
        shell.publishes_errors = False
        try:
            if trace is None:
                shell.last_traceback = [f"{type(error).__name__}: {_describe(error)}"]
            else:
                shell.showtraceback((type(error), error, trace), tb_offset=0)
            shell.last_traceback = [*(shell.last_traceback or ()), *native.last_words(error)]
        except Exception as failure:
            self.kernel.log.error("cannot format the traceback of %r: %s", error, failure)
        finally:
            shell.publishes_errors = True

    # ------------------------------------------------------------ completion and inspection of code

    def complete(self, code, cursor):
        from IPython.utils.tokenutil import line_at_cursor

        line, offset = line_at_cursor(code.decode(), cursor)
        text, matches = self.shell.complete("", line, cursor - offset)
        return json_text.dump({
            "status": "ok",
            "matches": matches,
            "cursor_start": cursor - len(text),
            "cursor_end": cursor,
            "metadata": {},
        })

    def inspect(self, code, cursor, detail_level):
        from IPython.utils.tokenutil import token_at_cursor

        content = {"status": "ok", "found": True, "data": {}, "metadata": {}}
        name = token_at_cursor(code.decode(), cursor)
        try:
            content["data"] = self.shell.object_inspect_mime(name, detail_level=detail_level)
        except KeyError:
            content["found"] = False
        return json_text.dump(content)

    def is_complete(self, code):
        manager = self.shell.input_transformer_manager
        status, indent = manager.check_complete(code.decode())
        content = {"status": status}
        if status == "incomplete":
            content["indent"] = " " * (indent or 0)
        return json_text.dump(content)

    def history(self, request):
        request = json_text.load(request)
        manager = self.shell.history_manager
        raw, output = request.get("raw", True), request.get("output", False)
        if request["hist_access_type"] == "tail":
            found = manager.get_tail(request["n"], raw=raw, output=output, include_latest=True)
        elif request["hist_access_type"] == "range":
            found = manager.get_range(request["session"], request["start"], request["stop"],
                                      raw=raw, output=output)
        else:
            found = manager.search(request["pattern"], raw=raw, output=output,
                                   n=request.get("n"), unique=request.get("unique", False))
        return json_text.dump({"status": "ok", "history": list(found)})

    def kernel_info(self):
        version = sys.version_info
        return json_text.dump({
            "status": "ok",
            "implementation": "polyxeus",
            "implementation_version": __version__,
            "language_info": {
                "name": "python",
                "version": sys.version.split()[0],
                "mimetype": "text/x-python",
                "codemirror_mode": {"name": "ipython", "version": version.major},
                "pygments_lexer": f"ipython{version.major}",
                "nbconvert_exporter": "python",
                "file_extension": ".py",
            },
            "banner": self.shell.banner,
            "help_links": [],
        })

    # ------------------------------------------------------------ comms, clear, signals

    def comm(self, message_type, content, metadata=b"{}", buffers=()):
        import comm

        message = {"content": json_text.load(content), "metadata": json_text.load(metadata),
                   "buffers": [memoryview(each) for each in buffers]}
        getattr(comm.get_comm_manager(), message_type.decode())(None, None, message)
        forked.end_child()

    def comm_info(self, request):
        comms = {}
        if "comm" in sys.modules:
            import comm

            wanted = json_text.load(request).get("target_name")
            for comm_id, each in comm.get_comm_manager().comms.items():
                if wanted in (None, each.target_name):
                    comms[comm_id] = {"target_name": each.target_name}
        return json_text.dump({"status": "ok", "comms": comms})

    def clear(self):
        self.shell.reset(False)

    def idle(self, descriptor):
        """Runs asyncio tasks until the descriptor is readable, which is the case when a request has
        arrived."""
        self.tasks.idle(descriptor)
        self.on_wake()

    def on_wake(self):
        """The C++ core calls this method when a signal has arrived while the engine was idle. When the method returns,
        the signal's handler has run."""
        interrupts.read_away(self.signals)
