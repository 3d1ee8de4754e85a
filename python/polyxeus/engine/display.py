"""Rich output of an engine, from display() and from the result of a cell."""


from IPython.core.displayhook import DisplayHook as IPythonDisplayHook
from IPython.core.displaypub import DisplayPublisher as IPythonDisplayPublisher
from traitlets import Any

from polyxeus.engine import json_text


class DisplayPublisher(IPythonDisplayPublisher):
    """Publishes the messages display_data, update_display_data and clear_output."""

    engine = Any()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._hooks = []

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **kwargs):
        self._validate_data(data, metadata)
        content = {"data": data, "metadata": metadata or {}, "transient": transient or {}}
        self._send("update_display_data" if update else "display_data", content)

    def clear_output(self, wait=False):
        self._send("clear_output", {"wait": wait})

    def register_hook(self, hook):
        """Registers a function `hook(message)`, which is called before each message is sent. The hook returns the
        message to send, or None if no message is to be sent."""
        self._hooks.append(hook)

    def unregister_hook(self, hook):
        if hook not in self._hooks:
            return False
        self._hooks.remove(hook)
        return True

    def _send(self, message_type, content):
        message = {"header": {"msg_type": message_type}, "msg_type": message_type,
                   "content": content, "metadata": {}, "parent_header": {}}
        for hook in list(self._hooks):
            message = hook(message)
            if message is None:
                return
        self.engine.publish(message_type, json_text.dump(content), b"", [])


class DisplayHook(IPythonDisplayHook):
    """Publishes the value of a cell as an execute_result message."""

    engine = Any()
    _content = None

    def start_displayhook(self):
        self._content = {}

    def write_output_prompt(self):
        self._content["execution_count"] = self.prompt_count

    def write_format_data(self, format_dict, md_dict=None):
        self._content["data"] = format_dict
        self._content["metadata"] = md_dict or {}

    def finish_displayhook(self):
        if self._content.get("data"):
            self.engine.publish("execute_result", json_text.dump(self._content), b"", [])
        self._content = None
