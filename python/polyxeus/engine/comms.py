"""Comms of widgets in an engine; only where the package `comm` is imported."""

from polyxeus.engine import json_text


def install(comm, engine, common_metadata):
    """Makes comm.create_comm() create comms that speak through `engine`."""
    from comm.base_comm import BaseComm

    class EngineComm(BaseComm):
        def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
            content = dict(data=data or {}, comm_id=self.comm_id, **keys)
            engine.publish(msg_type, json_text.dump(content),
                           json_text.dump({**common_metadata, **(metadata or {})}),
                           list(buffers or []))

    comm.create_comm = EngineComm
