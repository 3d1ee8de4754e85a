"""One debugging session of a client for many engines. The session contains the threads of all these engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Union

from polyxeus.debug_adapter.breakpoints import Breakpoints, read_ranks
from polyxeus.debug_adapter.differences import fold
from polyxeus.debug_adapter.numbers import Numbers
from polyxeus.debug_adapter.requests import Requests
from polyxeus.debug_adapter.shared_variables import SharedVariables

__all__ = ["Close", "Rank", "Session", "ToAdapter", "ToClient"]

_PATIENCE = 3.0  # seconds within which ranks must answer; the answer to the client lacks later answers
_PATIENCE_OF_START = 60.0
_PATIENCE_OF_END = 60.0  # seconds; an adapter that is disconnected too early refuses the next session
_PULSE = 2.0  # seconds
_CAPABILITIES = (
    "supportsConfigurationDoneRequest", "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints",
    "supportsLogPoints", "supportsFunctionBreakpoints", "supportsEvaluateForHovers", "supportsSetVariable",
    "supportsSetExpression", "supportsExceptionInfoRequest", "supportsExceptionFilterOptions", "supportsExceptionOptions",
    "supportsCompletionsRequest", "completionTriggerCharacters", "supportsDelayedStackTraceLoading",
    "supportsValueFormattingOptions", "supportsStepInTargetsRequest", "supportsClipboardContext",
    "supportsSingleThreadExecutionRequests",
)  # fmt: skip
_STEPS = ("continue", "next", "stepIn", "stepOut")
_ROUTED = ("exceptionInfo", "completions", "setVariable", "setExpression", "stepInTargets", "source", "pause")
_PASSED_EVENTS = ("continued", "thread", "invalidated")
_FIX_FOR_RANKS = "begin with the rank, for example `@1 x`, or select a frame of a stopped rank"


class Rank(NamedTuple):
    """An engine, and the arguments with which the engine's debug adapter attaches to the engine.

    engine  the id of the engine; under MPI, this is its rank
    name    the name that the client shows, such as "rank 0"
    attach  arguments of the request "attach"; they override those of the client
    passed  the names of the client's arguments that the adapter understands
    pulse   an expression for adapters that stop all threads of a rank. The session evaluates the
            expression every two seconds while the rank is stopped. During the evaluation, the
            threads run and answer heartbeats. If the expression is "", the session evaluates
            nothing
    """

    engine: int
    name: str
    attach: dict[str, Any]
    passed: tuple[str, ...] = ()
    pulse: str = ""


class ToClient(NamedTuple):
    """A decision of the session: send this message to the client."""

    message: dict[str, Any]


class ToAdapter(NamedTuple):
    """A decision of the session: send this message to the adapter at this place in the list of ranks."""

    place: int
    message: dict[str, Any]


class Close(NamedTuple):
    """A decision of the session: the session has ended, so close all connections when the earlier messages are sent."""


Effect = Union[ToClient, ToAdapter, Close]


class Session:
    """Decides how to react to each message of the client and of the adapters. The class uses no
    socket, no thread and no clock.

    To the client, all ranks together are one debuggee. Each thread of the debuggee belongs to one
    rank. Requests about a thread, a frame or a variable are sent to the adapter of the rank to
    which the thread, frame or variable belongs. Breakpoints are sent to the adapters of all ranks
    for which the client has set them.
    """

    def __init__(self, ranks: list[Rank]) -> None:
        self._ranks = ranks
        self._effects: list[Effect] = []
        self._seq = 0
        self._now = 0.0
        self._numbers = Numbers(len(ranks))
        names = [rank.name for rank in ranks]
        self._requests = Requests(len(ranks), lambda place, message: self._effects.append(ToAdapter(place, message)))
        self._shared = SharedVariables(self._numbers, [rank.engine for rank in ranks], names, self._ask_several)
        self._breakpoints: dict[Any, Breakpoints] = {}
        self._next_breakpoint = 1
        self._filters: list[set[str]] = [set() for _ in ranks]  # the filters of exceptions that all adapters have
        self._threads: list[list[dict[str, Any]]] = [[] for _ in ranks]  # from the last answers
        self._stopped: dict[int, list[int]] = {}  # by place: stopped threads, in the order of their stops
        self._pulses: dict[int, float] = {}  # by place: the time at which a stopped rank gets its next pulse
        self._initialized: set[int] = set()
        self._is_attaching = False
        self._is_initialized = False
        self._is_leaving = False
        self._steps_together = False
        self._has_invalidated = False  # the client understands this event
        self._handlers: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
            "initialize": self._on_initialize, "attach": self._on_attach, "launch": self._on_launch,
            "configurationDone": self._on_configuration_done, "disconnect": self._on_disconnect,
            "setBreakpoints": self._on_set_breakpoints, "setFunctionBreakpoints": self._on_set_function_breakpoints,
            "setExceptionBreakpoints": self._on_set_exception_breakpoints, "threads": self._on_threads,
            "stackTrace": self._on_stack_trace, "scopes": self._on_scopes, "variables": self._on_variables,
            "evaluate": self._on_evaluate, **dict.fromkeys(_STEPS, self._on_step),
            **dict.fromkeys(_ROUTED, self._on_routed),
        }  # fmt: skip

    # ------------------------------------------------------------ events

    def on_client(self, message: dict[str, Any], now: float) -> list[Effect]:
        """Handles a message from the client."""
        self._now = now
        message = {**message, "seq": message.get("seq", 0)}
        if message.get("type") == "request":
            handler = self._handlers.get(message.get("command", ""))
            if handler is not None:
                handler(message, message.get("arguments") or {})
            elif message.get("command") == "cancel":
                self._respond(message)
            else:
                self._refuse(message, f"{message.get('command')} is not supported for a session of several ranks")
        return self._take_effects()

    def on_adapter(self, place: int, message: dict[str, Any], now: float) -> list[Effect]:
        """Handles a message from a rank's adapter."""
        self._now = now
        kind = message.get("type")
        if kind == "response":
            self._requests.on_response(place, message)
        elif kind == "event":
            self._on_event(place, message.get("event", ""), message.get("body") or {})
        elif kind == "request":
            refusal = {"seq": 0, "type": "response", "request_seq": message.get("seq", 0), "success": False,
                       "command": message.get("command", ""), "message": "not supported"}  # fmt: skip
            self._effects.append(ToAdapter(place, refusal))
        return self._take_effects()

    def on_adapter_end(self, place: int, why: str, now: float) -> list[Effect]:
        """Handles the end of the connection to an adapter."""
        self._now = now
        if place in self._requests.alive:
            self._end_rank(place, why)
        return self._take_effects()

    def on_time(self, now: float) -> list[Effect]:
        """Finishes requests whose deadline has passed, and evaluates the expression `pulse` on
        stopped ranks. Call this method at the time that next_deadline() returns."""
        self._now = now
        self._requests.on_time(now)
        for place in [place for place, due in self._pulses.items() if due <= now]:
            self._pulse(place)
        return self._take_effects()

    def next_deadline(self) -> float | None:
        """Returns the time at which on_time() must be called next; None if no work is pending."""
        deadlines = [*self._pulses.values(), self._requests.next_deadline()]
        return min((each for each in deadlines if each is not None), default=None)

    def _take_effects(self):
        effects, self._effects = self._effects, []
        return effects

    # ------------------------------------------------------------ messages to the client

    def _tell(self, kind, **members):
        self._seq += 1
        self._effects.append(ToClient({"seq": self._seq, "type": kind, **members}))

    def _event(self, name, body=None):
        self._tell("event", event=name, **({} if body is None else {"body": body}))

    def _respond(self, request, body=None):
        self._tell("response", request_seq=request["seq"], success=True, command=request["command"],
                   **({} if body is None else {"body": body}))  # fmt: skip

    def _refuse(self, request, why):
        error = {"id": 1, "format": "{why}", "variables": {"why": why}, "showUser": True}
        self._tell("response", request_seq=request["seq"], success=False, command=request["command"], message=why,
                   body={"error": error})  # fmt: skip

    def _say(self, text):
        self._event("output", {"category": "console", "output": f"{text}\n"})

    def _ask_several(self, wanted, then, patience=_PATIENCE):
        self._requests.ask_several(wanted, then, self._now + patience)

    def _ask_all(self, command, arguments, then, patience=_PATIENCE):
        self._ask_several(dict.fromkeys(self._requests.alive, (command, arguments)), then, patience)

    def _problem(self, answers):
        """Returns a sentence about the first rank that refused a request or did not answer; None if
        all ranks answered without an error."""
        for place, rank in enumerate(self._ranks):
            answer = answers.get(place)
            if answer is None:
                return f"{rank.name} does not answer its debugger: check that the engine runs"
            if not answer.get("success"):
                return f"{rank.name}: {_message(answer)}"
        return None

    # ------------------------------------------------------------ the start

    def _on_initialize(self, request, arguments):
        self._has_invalidated = bool(arguments.get("supportsInvalidatedEvent"))
        told = {**arguments, "supportsRunInTerminalRequest": False, "supportsStartDebuggingRequest": False,
                "supportsMemoryReferences": False, "supportsProgressReporting": False}  # fmt: skip

        def then(answers):
            problem = self._problem(answers)
            if problem is not None:
                return self._refuse(request, problem)
            return self._respond(request, self._capabilities(answers))

        self._ask_all("initialize", told, then, _PATIENCE_OF_START)

    def _capabilities(self, answers):
        bodies = {place: answer.get("body") or {} for place, answer in answers.items()}
        found = {name: body[name] for body in bodies.values() for name in _CAPABILITIES if body.get(name)}
        filters = {}
        for place, body in sorted(bodies.items()):
            for each in body.get("exceptionBreakpointFilters") or []:
                self._filters[place].add(each.get("filter"))
                filters.setdefault(each.get("filter"), each)
        return {**found, "supportsConfigurationDoneRequest": True, "exceptionBreakpointFilters": list(filters.values())}

    def _on_launch(self, request, _arguments):
        self._refuse(request, 'the engines are already running: write "request": "attach" in launch.json')

    def _on_attach(self, request, arguments):
        self._is_attaching = True
        self._steps_together = bool(arguments.get("together"))
        wanted = {
            place: ("attach", {**{name: arguments[name] for name in rank.passed if name in arguments}, **rank.attach})
            for place, rank in enumerate(self._ranks) if place in self._requests.alive
        }  # fmt: skip

        def then(answers):
            problem = self._problem(answers)
            if problem is not None:
                return self._refuse(request, problem)
            return self._respond(request)

        self._ask_several(wanted, then, _PATIENCE_OF_START)
        self._tell_initialized()

    def _tell_initialized(self):
        if self._is_attaching and not self._is_initialized and self._initialized >= set(self._requests.alive):
            self._is_initialized = True
            self._event("initialized")

    def _on_configuration_done(self, request, _arguments):
        self._ask_all("configurationDone", None, lambda answers: self._respond(request), _PATIENCE_OF_START)

    def _on_disconnect(self, request, _arguments):
        self._is_leaving = True

        def then(_answers):
            self._respond(request)
            self._effects.append(Close())

        self._ask_all("disconnect", {"restart": False, "terminateDebuggee": False}, then, _PATIENCE_OF_END)

    # ------------------------------------------------------------ breakpoints

    def _on_set_breakpoints(self, request, arguments):
        source = arguments.get("source") or {}
        owner = self._numbers.place_of({"source": source})

        def arguments_of(place, wished):
            told = self._numbers.to_adapter(source) if place == owner else {
                name: value for name, value in source.items() if name != "sourceReference"}  # fmt: skip
            return {**arguments, "source": told, "breakpoints": wished, "lines": [each["line"] for each in wished]}

        wished = arguments.get("breakpoints")
        if wished is None:  # old clients use this form
            wished = [{"line": line} for line in arguments.get("lines") or []]
        self._set(request, source.get("path") or source.get("name"), wished, arguments_of)

    def _on_set_function_breakpoints(self, request, arguments):
        self._set(request, None, arguments.get("breakpoints") or [], lambda _place, wished: {"breakpoints": wished})

    def _set(self, request, key, wished, arguments_of):
        made = Breakpoints([rank.engine for rank in self._ranks], wished, self._next_breakpoint)
        self._next_breakpoint += len(wished)
        self._breakpoints[key] = made

        def then(answers):
            for place, answer in answers.items():
                made.answer(place, answer)
            self._respond(request, {"breakpoints": made.states()})

        command = request["command"]
        self._ask_several(
            {place: (command, arguments_of(place, made.wished[place])) for place in self._requests.alive}, then
        )

    def _on_set_exception_breakpoints(self, request, arguments):
        def arguments_of(place):
            known = self._filters[place]
            told = {"filters": [each for each in arguments.get("filters") or [] if each in known]}
            options = [each for each in arguments.get("filterOptions") or [] if each.get("filterId") in known]
            return {**told, "filterOptions": options} if options else told

        wanted = {place: (request["command"], arguments_of(place)) for place in self._requests.alive}
        self._ask_several(wanted, lambda _answers: self._respond(request))

    # ------------------------------------------------------------ threads and frames

    def _on_threads(self, request, _arguments):
        def then(answers):
            for place, answer in answers.items():
                if answer.get("success"):
                    self._threads[place] = (answer.get("body") or {}).get("threads") or []
            listed = [
                {"id": self._numbers.join(place, thread["id"]), "name": f"{rank.name}: {thread.get('name')}"}
                for place, rank in enumerate(self._ranks) if place in self._requests.alive
                for thread in self._threads[place] or [{"id": 0, "name": "no answer"}]
            ]  # fmt: skip
            self._respond(request, {"threads": listed})

        self._ask_all("threads", None, then)

    def _route(self, request, arguments, then):
        """Sends the request to the rank that the arguments name, or to the first rank if the
        arguments name no rank. Calls `then` with the place of the rank and the body of a successful answer."""
        place = self._numbers.place_of(arguments)
        if place is None and self._requests.alive:
            place = self._requests.alive[0]
        if place is None or place >= len(self._ranks):
            return self._refuse(request, "these are values of several ranks: expand them, and choose the value of one rank")

        def pass_on(answer):
            if not answer.get("success"):
                return self._refuse(request, f"{self._ranks[place].name}: {_message(answer)}")
            return then(place, answer.get("body") or {})

        return self._requests.ask(place, request["command"], self._numbers.to_adapter(arguments), pass_on)

    def _on_routed(self, request, arguments):
        ids = request["command"] == "stepInTargets"
        self._route(request, arguments, lambda place, body: self._respond(
            request, self._numbers.to_client(place, body, with_ids=ids)))  # fmt: skip

    def _on_stack_trace(self, request, arguments):
        def then(place, body):
            self._shared.note_frames(place, body.get("stackFrames") or [])
            self._respond(request, self._numbers.to_client(place, body, with_ids=True))

        self._route(request, arguments, then)

    def _on_scopes(self, request, arguments):
        place, number = self._numbers.split(arguments.get("frameId", 0))

        def then(place, body):
            told = self._numbers.to_client(place, body)
            if len(self._stopped) > 1 and place in self._stopped:
                scope = self._shared.scope(place, number, {each: threads[-1] for each, threads in self._stopped.items()})
                told["scopes"] = [*(told.get("scopes") or []), scope]
            self._respond(request, told)

        self._route(request, arguments, then)

    def _on_variables(self, request, arguments):
        place, number = self._numbers.split(arguments.get("variablesReference", 0))
        if place == self._numbers.own:
            self._shared.read(number, lambda variables: self._respond(request, {"variables": variables}))
        else:
            self._route(request, arguments, lambda place, body: self._respond(
                request, self._numbers.to_client(place, body)))  # fmt: skip

    def _on_step(self, request, arguments):
        together = {}
        chosen = self._numbers.place_of(arguments)
        if self._steps_together:
            together = {place: threads[-1] for place, threads in self._stopped.items() if place != chosen}
        for place in [chosen, *together]:
            self._resume(place)

        def then(_place, body):
            told = {**body, "allThreadsContinued": False} if request["command"] == "continue" else body
            self._respond(request, told)
            for place, thread in together.items():
                self._requests.ask(place, request["command"], {"threadId": thread}, lambda _answer: None)
                number = self._numbers.join(place, thread)
                self._event("continued", {"threadId": number, "allThreadsContinued": False})

        self._route(request, arguments, then)

    def _resume(self, place):
        self._stopped.pop(place, None)
        self._pulses.pop(place, None)
        self._shared.forget()

    # ------------------------------------------------------------ evaluate

    def _on_evaluate(self, request, arguments):
        try:
            ranks, expression = read_ranks(arguments.get("expression") or "")
        except ValueError as problem:
            return self._refuse(request, str(problem))
        if ranks is None:
            if arguments.get("frameId") is None and len(self._ranks) > 1:
                return self._refuse(request, f"which rank? {_FIX_FOR_RANKS}")
            return self._route(request, arguments, lambda place, body: self._respond(
                request, self._numbers.to_client(place, body)))  # fmt: skip
        places = [place for place in self._stopped if self._ranks[place].engine in ranks]
        missing = sorted(set(ranks) - {self._ranks[place].engine for place in places})
        if missing:
            return self._refuse(request, f"rank {missing[0]} has not stopped: pause it first")
        return self._evaluate_on(request, arguments, sorted(places), expression)

    def _evaluate_on(self, request, arguments, places, expression):
        def with_frames(answers):
            wanted = {}
            for place, answer in answers.items():
                frames = (answer.get("body") or {}).get("stackFrames") or []
                if frames:
                    told = {**arguments, "expression": expression, "frameId": frames[0]["id"]}
                    wanted[place] = ("evaluate", told)
            self._ask_several(wanted, with_results, _PATIENCE_OF_START)

        def with_results(answers):
            if len(places) == 1 and answers.get(places[0], {}).get("success"):
                return self._respond(request, self._numbers.to_client(places[0], answers[places[0]].get("body") or {}))
            texts = {self._ranks[place].engine: "no answer" for place in places}
            for place, answer in answers.items():
                body = answer.get("body") or {}
                texts[self._ranks[place].engine] = body.get("result", "") if answer.get("success") else _message(answer)
            lines = [f"[{who}] {text}" for who, text in fold(texts)]
            return self._respond(request, {"result": "\n".join(lines), "variablesReference": 0})

        wanted = {place: ("stackTrace", {"threadId": self._stopped[place][-1], "levels": 1}) for place in places}
        self._ask_several(wanted, with_frames)

    # ------------------------------------------------------------ events of adapters

    def _on_event(self, place, name, body):
        if name == "initialized":
            self._initialized.add(place)
            self._tell_initialized()
        elif name == "stopped":
            self._on_stopped(place, body)
        elif name == "output":
            self._on_output(place, body)
        elif name == "breakpoint":
            for each in self._breakpoints.values():
                state = each.change(place, body.get("breakpoint") or {})
                if state is not None:
                    self._event("breakpoint", {"reason": "changed", "breakpoint": state})
        elif name == "terminated" and not self._is_leaving:  # else its answer to "disconnect" follows
            self._end_rank(place, "its debugger has ended the session")
        elif name in _PASSED_EVENTS:
            if name == "continued":
                self._resume(place)
                body = {**body, "allThreadsContinued": False}
            self._event(name, self._numbers.to_client(place, body))

    def _on_stopped(self, place, body):
        told = self._numbers.to_client(place, body)
        rank = self._ranks[place].name
        told["description"] = f"{rank}: {body.get('description') or body.get('reason') or 'stopped'}"
        told["allThreadsStopped"] = False
        if self._stopped:  # the user is examining another rank
            told["preserveFocusHint"] = True
        ids = [made.id_of(place, number) for number in body.get("hitBreakpointIds") or []
               for made in self._breakpoints.values()]  # fmt: skip
        told.pop("hitBreakpointIds", None)
        if any(each is not None for each in ids):
            told["hitBreakpointIds"] = [each for each in ids if each is not None]
        threads = self._stopped.setdefault(place, [])
        thread = body.get("threadId")
        if thread is not None:
            self._stopped[place] = [*(each for each in threads if each != thread), thread]
        if self._ranks[place].pulse and place in self._stopped:
            self._pulses[place] = self._now + _PULSE
        self._event("stopped", told)
        if len(self._stopped) > 1 and self._has_invalidated:
            self._event("invalidated", {"areas": ["variables"]})

    def _pulse(self, place):
        """Evaluates an expression on a stopped rank. During the evaluation, the threads of this
        rank run, so that the rank answers heartbeats."""
        del self._pulses[place]  # no further pulse until this one is answered

        def with_frame(answer):
            frames = (answer.get("body") or {}).get("stackFrames") or []
            if frames and place in self._stopped:
                told = {"expression": self._ranks[place].pulse, "context": "repl", "frameId": frames[0]["id"]}
                self._requests.ask(place, "evaluate", told, then)
            else:
                then(answer)

        def then(_answer):
            if place in self._stopped:
                self._pulses[place] = self._now + _PULSE

        self._requests.ask(place, "stackTrace", {"threadId": self._stopped[place][-1], "levels": 1}, with_frame)

    def _on_output(self, place, body):
        if body.get("category") == "telemetry":
            return
        text = str(body.get("output", ""))
        lines = text.splitlines(keepends=True)
        told = self._numbers.to_client(place, body)
        told["output"] = "".join(f"[{self._ranks[place].engine}] {line}" for line in lines)
        self._event("output", told)

    def _end_rank(self, place, why):
        self._resume(place)
        for thread in self._threads[place]:
            self._event("thread", {"reason": "exited", "threadId": self._numbers.join(place, thread["id"])})
        if not self._is_leaving:
            self._say(f"{self._ranks[place].name} is no longer debugged: {why}")
        self._requests.on_end(place)
        self._tell_initialized()
        if not self._requests.alive and not self._is_leaving:
            self._event("terminated")


def _message(answer):
    error = (answer.get("body") or {}).get("error") or {}
    text = error.get("format") or answer.get("message") or "no reason given"
    for name, value in (error.get("variables") or {}).items():
        text = text.replace("{" + name + "}", str(value))
    return text
