"""What a notebook shows of a result that is under way, and of the engines: one display that is updated."""

import pytest


def shown_since(notebook, display_id, is_it, seen=()):
    """The content of the first update of a display that is it; what came until then otherwise."""
    seen = list(seen)
    for message in notebook.published(seen):
        content = message["content"]
        if content.get("transient", {}).get("display_id") == display_id:
            seen.append(content["data"])
            if message["msg_type"] == "update_display_data" and is_it(content["data"]):
                return content["data"]
    return None


def live_display(cell):
    """(id, data) of the display of the result that a cell has shown."""
    for content in cell.contents("display_data"):
        display_id = content["transient"].get("display_id", "")
        if display_id.startswith("result-") and not display_id.endswith("-stop"):
            return display_id, content["data"]
    raise AssertionError(f"no display of a result: {cell.contents('display_data')}")


def test_a_pending_result_is_followed_until_it_is_there(notebook):
    cell = notebook.ok("%%px --noblock -t 0:2\nimport time\nfor _ in range(20): time.sleep(0.1)")
    value, = cell.contents("execute_result")
    assert value["data"] == {"text/plain": "<AsyncResult(%px)>"}
    display_id, data = live_display(cell)
    assert "<progress" in data["text/html"] and "pending" in data["text/plain"]
    last = shown_since(notebook, display_id, lambda data: "finished" in data["text/plain"])
    assert "2 of 2 requests answered" in last["text/html"] and "<progress" not in last["text/html"]


def test_the_errors_of_engines_are_grouped_when_it_is_over(notebook):
    cell = notebook.ok("%%px --noblock\nimport time\ntime.sleep(0.5)\nraise ValueError('<b>no luck</b>')")
    last = shown_since(notebook, live_display(cell)[0], lambda data: "failed" in data["text/plain"])
    html = last["text/html"]
    assert html.count("<details>") == 1 and "[0-3:execute] ValueError: &lt;b&gt;no luck&lt;/b&gt;" in html


def test_the_button_stops_what_runs(notebook):
    pytest.importorskip("ipywidgets")
    cell = notebook.ok("%%px --noblock -t 1\nimport time\ntime.sleep(600)")
    view, = [each["data"] for each in cell.contents("display_data")
             if each["transient"].get("display_id", "").endswith("-stop")]  # fmt: skip
    model = view["application/vnd.jupyter.widget-view+json"]["model_id"]
    click = {"method": "custom", "content": {"event": "click"}}
    message = notebook.client.session.msg("comm_msg", {"comm_id": model, "data": click})
    notebook.client.shell_channel.send(message)
    last = shown_since(notebook, live_display(cell)[0], lambda data: "failed" in data["text/plain"])
    assert "KeyboardInterrupt" in last["text/html"]


def test_without_widgets_a_line_says_how_to_stop_it(notebook):
    cell = notebook.ok(
        "import polyxeus.results.live_display as live\nhas_widgets, live.has_widgets = live.has_widgets, lambda: False\n"
        "from IPython.display import display\ndisplay(rc[2].execute('import time; time.sleep(0.5)', block=False))\n"
        "live.has_widgets = has_widgets"
    )
    display_id, data = live_display(cell)
    assert "its cancel() aborts what has not begun" in data["text/html"]
    assert not [each for each in cell.contents("display_data") if each["transient"].get("display_id") == f"{display_id}-stop"]
    shown_since(notebook, display_id, lambda data: "finished" in data["text/plain"] and "cancel()" not in data["text/html"])


def test_pxtop_updates_one_display_until_it_is_interrupted(notebook):
    notebook.ok("%%px --noblock -t 1\nimport time\ntime.sleep(600)")
    messages = []
    message_id = notebook.begin("%pxtop")
    try:
        notebook.await_message(message_id, messages, lambda message: message["msg_type"] == "update_display_data")
        notebook.interrupt()
        cell = notebook.end(message_id, messages)
    finally:
        notebook.ok("rc.interrupt(block=True)\nrc.wait(timeout=60)")
    assert cell.status == "ok", cell.error
    first, = cell.contents("display_data")
    ids = {each["transient"]["display_id"] for each in cell.contents("update_display_data")}
    assert ids == {first["transient"]["display_id"]}
    assert "time.sleep(600)" in first["data"]["text/plain"] and "<table>" in first["data"]["text/html"]


def test_pxtop_once_ends_by_itself(notebook):
    cell = notebook.ok("%pxtop --once -t 0,2")
    shown, = cell.contents("display_data")
    lines = shown["data"]["text/plain"].splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["0", "2"] and not cell.contents("update_display_data")
