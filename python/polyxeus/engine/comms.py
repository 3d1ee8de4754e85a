"""The comms of widgets in an engine. A hook calls install() when the package `comm` is imported."""

from polyxeus.engine import json_text


def install(comm, engine, common_metadata, output_widgets=None):
    """Makes comm.create_comm() create comms that send their messages through `engine`.

    output_widgets  the OutputWidgets of the engine, which store the states of its widgets.
    """
    from comm.base_comm import BaseComm

    class EngineComm(BaseComm):
        def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
            self.tell(msg_type, data, metadata, buffers, **keys)
            if output_widgets is not None:
                _follow(output_widgets, self, msg_type, data or {})

        def tell(self, msg_type, data=None, metadata=None, buffers=None, **keys):
            """Sends a message to the clients, without passing it to the OutputWidgets."""
            content = dict(data=data or {}, comm_id=self.comm_id, **keys)
            engine.publish(msg_type, json_text.dump(content),
                           json_text.dump({**common_metadata, **(metadata or {})}),
                           list(buffers or []))

        def on_msg(self, callback):
            super().on_msg(callback)
            self._callback = callback

        def be_told(self, data):
            """Calls the widget's callback with this data, as if the front end had sent the data in
            a message."""
            self._callback({"content": {"data": data}, "metadata": {}, "buffers": []})

    comm.create_comm = EngineComm


def _follow(output_widgets, comm, message_type, data):
    if message_type == "comm_open":
        output_widgets.on_open(comm, data.get("state", {}))
    elif message_type == "comm_close":
        output_widgets.on_close(comm)
    elif data.get("method") == "update":
        output_widgets.on_update(comm, data["state"])
