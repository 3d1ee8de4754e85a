"""Jupyter's own tests of kernels."""

import random

import jupyter_kernel_test


class KernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = "pxpython"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = [{"text": "zi", "matches": {"zip"}},
                          {"text": "'x'.startsw", "matches": {"startswith"}}]
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2"]
    invalid_code_samples = ["import = 7q"]
    code_page_something = "zip?"
    code_generate_error = "raise"
    code_execute_result = [{"code": "1+2+3", "result": "6"},
                           {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"}]
    code_display_data = [
        {"code": "from IPython.display import HTML, display; display(HTML('<b>test</b>'))",
         "mime": "text/html"},
        {"code": "from IPython.display import Math, display; display(Math('\\\\frac{1}{2}'))",
         "mime": "text/latex"}]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"

    def test_history(self):
        # The last search wants three cells that match.
        for _ in range(3):
            self.execute_helper(self.code_execute_result[0]["code"])
        super().test_history()


class IopubWelcomeTests(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "pxpython"
    support_iopub_welcome = True


del jupyter_kernel_test


def test_requests_of_any_content_are_answered_and_end_no_kernel(kernel):
    values = [0, -1, 2**63, 1.5, True, None, "text", [], [1], {}, {"a": 1}]
    keys = {"execute_request": ["code", "silent", "store_history", "allow_stdin", "stop_on_error",
                                "user_expressions"],
            "complete_request": ["code", "cursor_pos", "stop_on_error"],
            "inspect_request": ["code", "cursor_pos", "detail_level", "stop_on_error"],
            "is_complete_request": ["code", "stop_on_error"],
            "history_request": ["hist_access_type", "n", "session", "start", "stop", "output", "raw",
                                "pattern", "unique"],
            "comm_info_request": ["target_name", "stop_on_error"],
            "kernel_info_request": ["stop_on_error"]}
    chosen = random.Random(17)
    asked = []
    for request_type, names in keys.items():
        for name in names:
            for value in chosen.sample(values, 5):
                content = {"code": "1 + 1", "cursor_pos": 1, name: value}
                message = kernel.client.session.msg(request_type, content)
                kernel.client.shell_channel.send(message)
                asked.append(message["header"]["msg_id"])
    for message_id in asked:
        kernel.reply_to(message_id)
    assert kernel.run("print('well')").text() == "well\n"
