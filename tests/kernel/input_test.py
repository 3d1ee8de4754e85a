"""input() and getpass(): the client's user is asked."""

import os
import signal


def ask(kernel, code, answer, **options):
    message_id = kernel.client.execute(code, allow_stdin=True, **options)
    question = kernel.client.get_stdin_msg(timeout=60)
    assert question["msg_type"] == "input_request"
    assert question["parent_header"]["msg_id"] == message_id
    kernel.client.input(answer)
    return question["content"], kernel.finish(message_id)


def test_input_asks_the_user(kernel):
    question, cell = ask(kernel, "print('Hello ' + input('Who? '))", "J\u00fcrg")
    assert question == {"prompt": "Who? ", "password": False}
    assert cell.text() == "Hello J\u00fcrg\n"


def test_getpass_hides_what_is_typed(kernel):
    question, cell = ask(kernel, "import getpass; print(len(getpass.getpass('Key: ')))", "secret")
    assert question == {"prompt": "Key: ", "password": True}
    assert cell.text() == "6\n"


def test_a_client_without_a_user_is_not_asked(kernel):
    cell = kernel.run("input('Who? ')", allow_stdin=False)
    assert cell.reply["ename"] == "StdinNotImplementedError"


def test_a_question_can_be_interrupted(kernel):
    message_id = kernel.client.execute("input('Who? ')", allow_stdin=True)
    kernel.client.get_stdin_msg(timeout=60)
    os.kill(kernel.manager.provisioner.pid, signal.SIGINT)
    assert kernel.finish(message_id).reply["ename"] == "KeyboardInterrupt"
    question, cell = ask(kernel, "print(input('Again? '))", "yes")
    assert cell.text() == "yes\n"


def test_the_end_of_input_is_an_error_of_pythons(kernel):
    _, cell = ask(kernel, "input()", "\x04")
    assert cell.reply["ename"] == "EOFError"
