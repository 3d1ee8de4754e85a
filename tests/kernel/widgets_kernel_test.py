"""ipywidgets and tqdm in the kernel: what a notebook's front end does is done by hand here."""

import re

import pytest
from comms_test import send

VIEW = "application/vnd.jupyter.widget-view+json"


class Widgets:
    """The front end's side of the widgets of some cells: their states by model id."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.states = {}

    def follow(self, messages):
        for message in messages:
            content = message["content"]
            if message["msg_type"] == "comm_open" and content["target_name"] == "jupyter.widget":
                self.states[content["comm_id"]] = dict(content["data"]["state"])
            elif message["msg_type"] == "comm_msg" and content["data"]["method"] == "update":
                self.states[content["comm_id"]].update(content["data"]["state"])
            elif message["msg_type"] == "comm_close":
                self.states.pop(content["comm_id"], None)
        return messages

    def run(self, code):
        cell = self.kernel.run(code)
        assert cell.status == "ok", cell.reply
        self.follow(cell.messages)
        return cell

    def change(self, model_id, **state):
        """What the front end sends when the user moves something; the messages that follow."""
        data = {"method": "update", "state": state, "buffer_paths": []}
        request = send(self.kernel, "comm_msg", {"comm_id": model_id, "data": data})
        return self.follow(self.kernel.output_of(request))

    def custom(self, model_id, **content):
        data = {"method": "custom", "content": content}
        request = send(self.kernel, "comm_msg", {"comm_id": model_id, "data": data})
        return self.follow(self.kernel.output_of(request))

    def named(self, name):
        """The (model id, state) pairs of the models of this kind."""
        return [(key, state) for key, state in self.states.items() if state.get("_model_name") == name]


@pytest.fixture
def widgets(kernel):
    widgets = Widgets(kernel)
    widgets.run("import ipywidgets as w\nfrom IPython.display import display")
    return widgets


def shown(cell, kind="execute_result"):
    """The model ids of the widgets that a cell shows."""
    return [each["data"][VIEW]["model_id"] for each in cell.contents(kind) if VIEW in each["data"]]


def text_of(messages):
    return "".join(each["content"]["text"] for each in messages if each["msg_type"] == "stream")


def test_a_widget_is_shown_with_its_model(widgets):
    cell = widgets.run("slider = w.IntSlider(value=3, min=0, max=10); slider")
    (model_id,) = shown(cell)
    state = widgets.states[model_id]
    assert (state["_model_name"], state["value"], state["max"]) == ("IntSliderModel", 3, 10)
    assert state["layout"].removeprefix("IPY_MODEL_") in widgets.states
    info = widgets.kernel.reply_to(widgets.kernel.client.comm_info("jupyter.widget"))["content"]
    assert model_id in info["comms"]


def test_a_display_shows_it_too(widgets):
    cell = widgets.run("display(w.Label('a')); display(w.Label('b'))")
    assert [widgets.states[each]["value"] for each in shown(cell, "display_data")] == ["a", "b"]


def test_what_the_user_moves_reaches_the_code(widgets):
    cell = widgets.run("slider = w.IntSlider(value=3)\n"
                       "slider.observe(lambda change: print(change.old, '->', change.new), 'value')\n"
                       "slider")
    (model_id,) = shown(cell)
    assert text_of(widgets.change(model_id, value=7)) == "3 -> 7\n"
    assert widgets.run("print(slider.value)").text() == "7\n"


def test_what_the_code_moves_reaches_the_front_end(widgets):
    (model_id,) = shown(widgets.run("slider = w.IntSlider(value=3); slider"))
    widgets.run("slider.value = 9")
    assert widgets.states[model_id]["value"] == 9


def test_a_button_runs_its_handler(widgets):
    (model_id,) = shown(widgets.run(
        "button = w.Button(description='go')\nbutton.on_click(lambda _: print('clicked'))\nbutton"))
    assert text_of(widgets.custom(model_id, event="click")) == "clicked\n"


def test_interact_calls_its_function_for_each_move(widgets):
    cell = widgets.run("w.interact(lambda n: print('n is', n), n=(0, 10));")
    ((slider, _),) = widgets.named("IntSliderModel")
    assert "n is 5\n" in text_of(cell.messages) or any(
        "n is 5\n" in str(state.get("outputs")) for _, state in widgets.named("OutputModel"))
    messages = widgets.change(slider, value=8)
    assert "n is 8\n" in text_of(messages) + str(widgets.named("OutputModel"))


def test_output_inside_of_an_output_widget_is_sent_to_it(widgets):
    """The front end puts what has this msg_id as its parent into the widget."""
    cell = widgets.run("out = w.Output()\nwith out: print('inside')\nprint('outside')\nout")
    (model_id,) = shown(cell)
    updates = [each["content"]["data"]["state"].get("msg_id") for each in cell.messages
               if each["msg_type"] == "comm_msg" and each["content"]["comm_id"] == model_id]
    assert updates == [cell.messages[0]["parent_header"]["msg_id"], ""]
    assert cell.text() == "inside\noutside\n"
    order = [each["msg_type"] if each["msg_type"] == "comm_msg" else each["content"]["text"]
             for each in cell.messages if each["msg_type"] in ("comm_msg", "stream")]
    assert order == ["comm_msg", "inside\n", "comm_msg", "outside\n"]


def test_a_closed_widget_is_gone(widgets):
    (model_id,) = shown(widgets.run("label = w.Label('x'); label"))
    widgets.run("label.close()")
    assert model_id not in widgets.states


def test_bytes_travel_as_buffers(widgets):
    cell = widgets.run("w.Image(value=b'\\x89PNG' * 10, format='png')")
    opened = [each for each in cell.messages if each["msg_type"] == "comm_open"
              and each["content"]["data"]["state"].get("_model_name") == "ImageModel"]
    (image,) = opened
    assert [bytes(each) for each in image["buffers"]] == [b"\x89PNG" * 10]


# ---------------------------------------------------------------- tqdm


def test_tqdm_in_text_ends_with_all_done(kernel):
    cell = kernel.run("from tqdm import tqdm\nfor _ in tqdm(range(20)): pass")
    last = cell.text("stderr").rstrip("\n").rpartition("\r")[2]
    assert re.match(r"100%\|.*\| 20/20 \[", last)
    assert cell.text() == ""


def test_tqdm_in_a_notebook_is_a_bar_that_ends_full(widgets):
    cell = widgets.run("from tqdm.notebook import tqdm\nfor _ in tqdm(range(20), desc='steps'): pass")
    (model_id,) = shown(cell, "display_data")
    assert widgets.states[model_id]["_model_name"] == "HBoxModel"
    ((_, bar),) = widgets.named("FloatProgressModel")
    assert (bar["value"], bar["max"], bar["bar_style"]) == (20, 20, "success")
    texts = [state["value"] for _, state in widgets.named("HTMLModel")]
    assert any("steps" in text for text in texts) and any("20/20" in text for text in texts)


def test_tqdm_auto_draws_the_bar_of_a_notebook(widgets):
    cell = widgets.run("from tqdm.auto import tqdm, trange\n"
                       "for _ in tqdm(range(3)): pass\nfor _ in trange(2): pass")
    assert [widgets.states[each]["_model_name"] for each in shown(cell, "display_data")] == ["HBoxModel"] * 2
    assert cell.text("stderr") == ""


def test_a_bar_that_is_left_early_is_marked(widgets):
    cell = widgets.kernel.run("from tqdm.notebook import tqdm\nfor i in tqdm(range(5)):\n"
                              "    if i == 3: raise ValueError('enough')")
    widgets.follow(cell.messages)
    assert cell.reply["ename"] == "ValueError"
    ((_, bar),) = widgets.named("FloatProgressModel")
    assert bar["bar_style"] == "danger"
