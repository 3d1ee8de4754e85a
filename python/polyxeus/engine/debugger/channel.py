"""Channels through which a debugger asks its user for input. pdb writes to a channel and reads lines from it."""

import itertools
import sys

from polyxeus.engine import json_text

__all__ = ["InputChannel", "PromptChannel", "Refused"]

COMM = "polyxeus.debugger"  # the id of the comm by which prompts reach clients
_PATIENCE = 15.0  # seconds within which a client must report whether it can answer
_MOST_TEXT = 1 << 20  # characters between two prompts
_NO_CLIENT = (
    f"its client did not say within {_PATIENCE:.0f} s that it can ask for commands: use a client of polyxeus in a "
    "notebook or a terminal"
)
_numbers = itertools.count(1)


class Refused(Exception):
    """The client cannot answer. The text of the exception gives the reason."""


class InputChannel:
    """Asks the user of a Jupyter client that is connected directly to the engine, with the client's input()."""

    def __init__(self, shell):
        self._shell = shell
        self._unsent = ""

    def open(self, why, place):
        """Does nothing, because a client that is connected directly can always answer."""

    def write(self, text):
        self._unsent += text

    def flush(self):
        """Does nothing, because readline() shows the text and the prompt."""

    def ask(self, prompt, is_password=False):
        return self._shell.getpass(prompt) if is_password else self._shell.raw_input(prompt)

    def readline(self):
        text, self._unsent = self._unsent, ""
        before, line_end, prompt = text.rpartition("\n")
        sys.stdout.write(before + line_end)
        try:
            return self.ask(prompt) + "\n"
        except EOFError:
            return ""

    def close(self):
        sys.stdout.write(self._unsent)
        self._unsent = ""


class PromptChannel:
    """Asks the user of the client whose request is running. The engine publishes each question, and
    the client sends the answer as a control message."""

    def __init__(self, engine):
        self._engine = engine
        self._unsent = ""
        self._is_open = False

    # ------------------------------------------------------------ the methods that pdb calls

    def write(self, text):
        self._unsent = (self._unsent + text)[-_MOST_TEXT:]

    def flush(self):
        """Does nothing, because the text is sent with the next question."""

    def readline(self):
        before, line_end, prompt = self._unsent.rpartition("\n")
        self._unsent = before + line_end
        try:
            return self.ask(prompt) + "\n"
        except EOFError:
            return ""

    # ------------------------------------------------------------ questions

    def open(self, why, place):
        """Tells the client that code has stopped.

        errors  Refused: the client cannot answer.
        """
        sys.stdout.flush()
        sys.stderr.flush()
        answer = self._question({"kind": "stopped", "why": why, "place": place}, _PATIENCE)
        if answer is None:
            raise Refused(_NO_CLIENT)
        self._is_open = True

    def ask(self, prompt, is_password=False):
        """Asks the user for a line, and returns the line.

        errors  EOFError: the user has ended the input. Refused: the client cannot answer.
        """
        sys.stdout.flush()
        sys.stderr.flush()
        text, self._unsent = self._unsent, ""
        answer = self._question({"kind": "prompt", "prompt": prompt, "password": is_password, "text": text})
        if answer.get("eof"):
            raise EOFError
        return str(answer.get("value", ""))

    def close(self):
        """Tells the client that the code continues."""
        if self._is_open:
            self._is_open = False
            text, self._unsent = self._unsent, ""
            self._publish({"kind": "left", "number": next(_numbers), "text": text})

    def _question(self, data, patience=None):
        """Publishes a question and returns the answer; None if the answer does not arrive within
        `patience` seconds."""
        number = next(_numbers)
        self._engine.expect_answer()
        self._publish({**data, "number": number})
        while True:
            text = self._engine.wait_answer(patience)
            if text is None:
                return None
            answer = json_text.load(text)
            if answer.get("prompt") == number:
                break
            self._engine.expect_answer()  # this was the answer to an earlier, interrupted question
        if answer.get("refused"):
            self._is_open = False
            raise Refused(answer["refused"])
        return answer

    def _publish(self, data):
        self._engine.publish("comm_msg", json_text.dump({"comm_id": COMM, "data": data}), b"{}", [])
