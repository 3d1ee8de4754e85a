"""Comms: messages of widgets, both ways."""

ECHO = """
import comm
received = []
def opened(channel, message):
    received.append(("open", message["content"]["data"]))
    @channel.on_msg
    def _(message):
        received.append(("msg", message["content"]["data"]))
        channel.send({"echo": message["content"]["data"]}, metadata={"m": 1},
                     buffers=[bytes(each)[::-1] for each in message["buffers"]])
    channel.on_close(lambda message: received.append(("close", message["content"]["data"])))
get_ipython().kernel.comm_manager.register_target("echo", opened)
"""


def send(kernel, message_type, content, buffers=()):
    message = kernel.client.session.msg(message_type, content)
    message["buffers"] = list(buffers)
    kernel.client.shell_channel.send(message)
    return message["header"]["msg_id"]


def test_a_comm_that_the_client_opens(kernel):
    kernel.run(ECHO)
    kernel.output_of(send(kernel, "comm_open", {
        "comm_id": "c1", "target_name": "echo", "data": {"hello": 1}}))
    request = send(kernel, "comm_msg", {"comm_id": "c1", "data": {"x": [1, 2]}},
                   [b"abc", b"q" * 10000])
    messages = kernel.output_of(request)
    (echo,) = [each for each in messages if each["msg_type"] == "comm_msg"]
    assert echo["content"] == {"comm_id": "c1", "data": {"echo": {"x": [1, 2]}}}
    assert echo["metadata"] == {"m": 1}
    assert [bytes(each) for each in echo["buffers"]] == [b"cba", b"q" * 10000]
    info = kernel.reply_to(kernel.client.comm_info("echo"))["content"]
    assert info["comms"] == {"c1": {"target_name": "echo"}}
    kernel.output_of(send(kernel, "comm_close", {"comm_id": "c1", "data": {}}))
    assert kernel.run("print(received)").text() == (
        "[('open', {'hello': 1}), ('msg', {'x': [1, 2]}), ('close', {})]\n")
    assert kernel.reply_to(kernel.client.comm_info("echo"))["content"]["comms"] == {}


def test_a_comm_that_a_cell_opens(kernel):
    cell = kernel.run("import comm\n"
                      "c = comm.create_comm(target_name='view', data={'a': 1}, buffers=[b'x'])\n"
                      "c.send({'b': 2}); c.close()")
    (opened,), (sent,), (closed,) = (cell.contents(each)
                                     for each in ("comm_open", "comm_msg", "comm_close"))
    assert opened["target_name"] == "view" and opened["data"] == {"a": 1}
    assert sent["data"] == {"b": 2}
    assert opened["comm_id"] == sent["comm_id"] == closed["comm_id"]
