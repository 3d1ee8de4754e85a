"""Widgets of engines in a notebook: what its front end does is done by hand here."""

import pytest
from conftest import PATIENCE, Notebook, plain
from running_cluster import RunningCluster

VIEW = "application/vnd.jupyter.widget-view+json"


class FrontEnd:
    """The front end's side of all comms of a notebook's kernel."""

    def __init__(self, notebook):
        self.notebook = notebook
        self.client = notebook.client
        self.states = {}  # by comm id
        self.closed = set()
        self.messages = []

    def await_(self, is_it):
        """Reads until a message is the one that is waited for."""
        for message in self.notebook.published(self.messages):
            self.messages.append(message)
            self._follow(message)
            if is_it(message):
                return message

    def _follow(self, message):
        content = message["content"]
        if message["msg_type"] == "comm_open":
            self.states[content["comm_id"]] = dict(content["data"].get("state", {}))
        elif message["msg_type"] == "comm_msg" and content["data"].get("method") == "update":
            self.states[content["comm_id"]].update(content["data"]["state"])
        elif message["msg_type"] == "comm_close":
            self.closed.add(content["comm_id"])

    def run(self, code):
        """The messages of a cell, those of comms that came meanwhile among them."""
        request = self.notebook.begin(code)
        begin = len(self.messages)
        self.await_(lambda message: message["parent_header"].get("msg_id") == request
                    and message["content"].get("execution_state") == "idle")
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == request:
                assert reply["content"]["status"] == "ok", reply["content"]
                return self.messages[begin:]

    def send(self, model_id, data, message_type="comm_msg", buffers=()):
        """Sends what a front end sends; gives the message's id."""
        message = self.client.session.msg(message_type, {"comm_id": model_id, "data": data})
        self.client.session.send(self.client.shell_channel.socket, message, buffers=list(buffers))
        return message["header"]["msg_id"]

    def change(self, model_id, **state):
        return self.send(model_id, {"method": "update", "state": state, "buffer_paths": []})

    def await_text(self, request, text):
        """Waits until a text has come for a message; gives all that came for it."""
        said = ""

        def is_it(message):
            nonlocal said
            if message["msg_type"] == "stream" and message["parent_header"]["msg_id"] == request:
                said += message["content"]["text"]
            return text in said

        self.await_(is_it)
        return said


@pytest.fixture
def front_end(notebook):
    return FrontEnd(notebook)


def shown(messages):
    """The model ids of the widgets that a cell shows."""
    return [message["content"]["data"][VIEW]["model_id"] for message in messages
            if VIEW in message["content"].get("data", {})]


def slider_of(front_end, engine, more=""):
    """The model id of a slider that one engine shows."""
    messages = front_end.run(
        f"%%px -t {engine}\nfrom ipywidgets import IntSlider\nslider = IntSlider(value=3)\n{more}\n"
        "slider")
    (model_id,) = shown(messages)
    return model_id


def test_each_engine_shows_a_slider_of_its_own_under_its_label(front_end):
    messages = front_end.run("%%px\nfrom ipywidgets import IntSlider\n"
                             "IntSlider(value=get_ipython().kernel.engine_id)")
    models = shown(messages)
    assert len(set(models)) == 4
    labels = []
    for position, message in enumerate(messages):
        if VIEW in message["content"].get("data", {}):
            model_id = message["content"]["data"][VIEW]["model_id"]
            engine = front_end.states[model_id]["value"]
            before = messages[position - 1]["content"]["data"]["text/plain"]
            labels.append((engine, plain(before).split(":")[0]))
            opened = [index for index, each in enumerate(messages)
                      if each["msg_type"] == "comm_open" and each["content"]["comm_id"] == model_id]
            assert opened and opened[0] < position, "a front end draws only models that it knows"
    assert sorted(labels) == [(engine, f"Out[{engine}") for engine in range(4)]


def test_moving_a_slider_changes_the_value_on_its_engine_alone(front_end):
    models = {engine: slider_of(front_end, engine) for engine in (0, 1)}
    request = front_end.change(models[1], value=8)
    echo = front_end.await_(lambda message: message["msg_type"] == "comm_msg"
                            and message["content"]["comm_id"] == models[1])
    assert echo["parent_header"]["msg_id"] == request, "the front end knows its own echo by that"
    values = front_end.notebook.text("%%px -t 0,1\nprint(slider.value)")
    assert sorted(values.splitlines()) == ["[stdout:0] 3", "[stdout:1] 8"]


def test_what_observers_on_the_engine_print_arrives_with_their_engines_label(front_end):
    model_id = slider_of(
        front_end, 2, "slider.observe(lambda change: print('moved to', change.new), 'value')")
    request = front_end.change(model_id, value=7)
    assert front_end.await_text(request, "\n") == "[stdout:2] moved to 7\n"


def test_what_the_engine_sets_reaches_the_front_end(front_end):
    model_id = slider_of(front_end, 0)
    front_end.run("%%px -t 0\nslider.value = 42")
    assert front_end.states[model_id]["value"] == 42


def outputs_of(front_end):
    """What the Output widgets show, by model id."""
    return {model_id: state["outputs"] for model_id, state in front_end.states.items()
            if state.get("_model_name") == "OutputModel"}


def texts_of(front_end, known):
    """What Output widgets show beyond the known ones."""
    return sorted("".join(each["text"] for each in outputs)
                  for model_id, outputs in outputs_of(front_end).items() if model_id not in known)


def test_interact_shows_in_its_output_widget_what_its_function_prints(front_end):
    known = dict(front_end.states)
    messages = front_end.run(
        "%%px -t 0,1\nfrom ipywidgets import interact\nimport os\n"
        "@interact(n=(0, 10))\n"
        "def show(n): print(get_ipython().kernel.engine_id, 'has', n)")
    assert texts_of(front_end, known) == ["0 has 5\n", "1 has 5\n"]
    assert not [each for each in messages if each["msg_type"] == "stream"]
    sliders = [model_id for model_id, state in front_end.states.items()
               if model_id not in known and state.get("_model_name") == "IntSliderModel"]
    front_end.change(sliders[0], value=8)
    front_end.await_(lambda _: any("has 8" in text for text in texts_of(front_end, known)))
    engine = next(text[0] for text in texts_of(front_end, known) if "has 8" in text)
    assert texts_of(front_end, known) == sorted([f"{engine} has 8\n",
                                                 f"{1 - int(engine)} has 5\n"])


def test_an_output_widget_catches_all_that_is_shown_inside_of_it(front_end):
    messages = front_end.run(
        "%%px -t 2\nfrom ipywidgets import Output\nout = Output()\nwith out:\n"
        "    print('text')\n    display(6 * 7)\n    1 / 0\nprint(len(out.outputs), 'outside')\nout")
    (model_id,) = shown(messages)
    kinds = [each["output_type"] for each in front_end.states[model_id]["outputs"]]
    assert kinds == ["stream", "display_data", "error"]
    said = [each["content"]["text"] for each in messages if each["msg_type"] == "stream"]
    assert said == ["[stdout:2] 3 outside\n"]


def test_a_progress_bar_of_tqdm_is_drawn(front_end):
    front_end.run("%%px -t 0\nfrom tqdm.notebook import tqdm\nfor _ in tqdm(range(5)): pass")
    bars = [state for state in front_end.states.values()
            if state.get("_model_name") == "FloatProgressModel"]
    assert [(bar["value"], bar["bar_style"]) for bar in bars] == [(5.0, "success")]


def test_bytes_travel_both_ways(front_end):
    messages = front_end.run(
        "%%px -t 0\nimport ipywidgets\npicture = ipywidgets.Image(value=bytes(range(256)) * 64)\n"
        "picture.on_msg(lambda widget, content, buffers: print(bytes(buffers[0])))\npicture")
    (model_id,) = shown(messages)
    (opened,) = [message for message in messages if message["msg_type"] == "comm_open"
                 and message["content"]["comm_id"] == model_id]
    assert [bytes(buffer) for buffer in opened["buffers"]] == [bytes(range(256)) * 64]
    request = front_end.send(model_id, {"method": "custom", "content": {}}, buffers=[b"a\0b"])
    assert front_end.await_text(request, "\n") == "[stdout:0] b'a\\x00b'\n"


def test_a_front_end_that_comes_later_asks_for_the_comms(front_end):
    model_id = slider_of(front_end, 3)
    request = front_end.client.comm_info("jupyter.widget")
    while True:
        reply = front_end.client.get_shell_msg(timeout=PATIENCE)
        if reply["parent_header"].get("msg_id") == request:
            break
    assert reply["content"]["comms"][model_id] == {"target_name": "jupyter.widget"}
    request = front_end.send(model_id, {"method": "request_state"})
    told = front_end.await_(lambda message: message["msg_type"] == "comm_msg"
                            and message["parent_header"]["msg_id"] == request)
    assert told["content"]["data"]["state"]["value"] == 3


def test_a_widget_of_a_view_that_does_not_wait_is_drawn_by_display_outputs(front_end):
    messages = front_end.run(
        "import polyxeus\nclient = polyxeus.Client()\n"
        "result = client[0].execute('from ipywidgets import IntSlider; IntSlider(value=5)',"
        " silent=False, block=False)\nresult.wait()\nresult.display_outputs()")
    (model_id,) = shown(messages)
    assert front_end.states[model_id]["value"] == 5
    front_end.run("client.close()")
    assert model_id in front_end.closed, "nobody would answer it any more"


def test_a_widget_that_the_front_end_closes_is_closed_on_its_engine(front_end):
    model_id = slider_of(front_end, 0)
    front_end.send(model_id, {}, "comm_close")
    assert front_end.notebook.text(
        f"%%px -t 0\nimport comm\nprint({model_id!r} in comm.get_comm_manager().comms)"
    ) == "[stdout:0] False\n"


def test_when_an_engine_ends_its_widgets_are_closed(stage, kernel_name):
    name = f"widgets_{kernel_name}"
    cluster = RunningCluster(stage, name)
    cluster.start_controller()
    cluster.start_engines(1)
    cluster.client(engines=1)
    notebook = Notebook(kernel_name)
    try:
        notebook.ok(f"%pxconfig --profile {name}")
        front_end = FrontEnd(notebook)
        model_id = slider_of(front_end, 0)
        notebook.begin("rc.shutdown(targets=0)")
        front_end.await_(lambda message: model_id in front_end.closed)
    finally:
        notebook.close()
        cluster.stop()
