"""Output widgets of an engine: what is printed and shown inside of them is theirs."""

import json

import pytest


class Comm:
    """That of a widget; keeps what the front end and the widget are told."""

    def __init__(self, name):
        self.comm_id = name
        self.updates = []
        self.told = []

    def tell(self, message_type, data):
        assert message_type == "comm_msg" and data["method"] == "update"
        self.updates.append(data["state"]["outputs"])

    def be_told(self, data):
        self.told.append(data["state"]["outputs"])


@pytest.fixture
def output(recorder):
    from polyxeus.engine.output_widgets import OutputWidgets

    return OutputWidgets(recorder)


@pytest.fixture
def opened(output):
    """Opens an Output widget with this name."""

    def open_(name):
        comm = Comm(name)
        output.on_open(comm, {"_model_name": "OutputModel", "msg_id": "", "outputs": []})
        return comm

    return open_


def show(output, text, message_type="display_data", **transient):
    content = {"data": {"text/plain": text}, "metadata": {}, "transient": transient}
    output.publish(message_type, json.dumps(content).encode(), b"", [])


def clear(output, waits):
    output.publish("clear_output", json.dumps({"wait": waits}).encode(), b"", [])


def shown(outputs):
    return [each["text"] if each["output_type"] == "stream" else each["data"]["text/plain"]
            for each in outputs]


def test_what_is_printed_inside_is_the_widgets_and_outside_the_clients(output, opened, recorder):
    comm = opened("a")
    output.write("stdout", b"before ")
    output.on_update(comm, {"msg_id": "1"})
    output.write("stdout", b"in")
    output.write("stdout", b"side")
    output.write("stderr", b"wrong")
    output.on_update(comm, {"msg_id": ""})
    output.write("stdout", b"after")
    assert recorder.printed == "before after"
    assert comm.updates[-1] == comm.told[-1] == [
        {"output_type": "stream", "name": "stdout", "text": "inside"},
        {"output_type": "stream", "name": "stderr", "text": "wrong"}]


def test_the_innermost_widget_gets_it(output, opened):
    outer, inner = opened("outer"), opened("inner")
    output.on_update(outer, {"msg_id": "1"})
    output.on_update(inner, {"msg_id": "1"})
    show(output, "deep")
    output.on_update(inner, {"msg_id": ""})
    show(output, "shallow")
    output.on_update(outer, {"msg_id": ""})
    assert shown(inner.told[-1]) == ["deep"] and shown(outer.told[-1]) == ["shallow"]


def test_a_widget_goes_on_with_what_it_shows_until_it_is_cleared(output, opened):
    comm = opened("a")
    for number, clears in enumerate([False, False, True]):
        output.on_update(comm, {"msg_id": str(number)})
        if clears:
            clear(output, waits=True)
        show(output, f"{number}")
        output.on_update(comm, {"msg_id": ""})
    assert [shown(each) for each in comm.told] == [["0"], ["0", "1"], ["2"]]
    output.on_update(comm, {"msg_id": "x"})
    clear(output, waits=False)
    output.on_update(comm, {"msg_id": ""})
    assert comm.told[-1] == []
    output.on_update(comm, {"outputs": [{"output_type": "stream", "name": "stdout", "text": "set"}]})
    output.on_update(comm, {"msg_id": "y"})
    output.write("stdout", b" more")
    output.on_update(comm, {"msg_id": ""})
    assert shown(comm.told[-1]) == ["set more"]


def test_a_display_is_replaced_by_its_id(output, opened):
    comm = opened("a")
    output.on_update(comm, {"msg_id": "1"})
    show(output, "old", display_id="bar")
    show(output, "other")
    show(output, "new", "update_display_data", display_id="bar")
    output.on_update(comm, {"msg_id": ""})
    assert shown(comm.told[-1]) == ["new", "other"]


def test_a_closed_widget_catches_nothing(output, opened, recorder):
    comm = opened("a")
    output.on_update(comm, {"msg_id": "1"})
    output.on_close(comm)
    output.write("stdout", b"text")
    assert recorder.printed == "text"


def test_other_messages_and_other_widgets_pass(output, opened, recorder):
    slider = Comm("slider")
    output.on_open(slider, {"_model_name": "IntSliderModel", "msg_id": "1"})
    output.on_update(slider, {"msg_id": "1"})
    output.on_update(opened("a"), {"msg_id": "1"})
    output.publish("comm_msg", b"{}", b"", [])
    assert recorder.contents("comm_msg") == [{}]
