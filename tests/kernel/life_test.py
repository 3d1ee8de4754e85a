"""How a kernel starts and ends."""

import json
import os
import signal
import subprocess
import sys

import psutil
import pytest
from conftest import PATIENCE, Driver, start_driver


def wait_for_end(pid):
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=PATIENCE)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def pxkernel(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "polyxeus.kernel", *arguments], text=True,
                          capture_output=True, timeout=PATIENCE, **options)


def test_a_shutdown_ends_the_process(own_kernel):
    pid = own_kernel.manager.provisioner.pid
    own_kernel.run("import atexit, os; path = os.environ['HOME'] + '/ended'\n"
                   "_ = atexit.register(lambda: open(path, 'w').close())")
    reply = own_kernel.ask_control("shutdown_request", {"restart": False})
    assert reply == {"status": "ok", "restart": False}
    wait_for_end(pid)
    assert os.path.exists(os.environ["HOME"] + "/ended")


def test_a_shutdown_ends_a_cell_that_runs(own_kernel):
    message_id = own_kernel.client.execute("print('go')\nwhile True: pass")
    own_kernel.await_text(message_id, "go")
    own_kernel.ask_control("shutdown_request", {"restart": False})
    wait_for_end(own_kernel.manager.provisioner.pid)


def test_a_restart_begins_anew(own_kernel):
    own_kernel.run("old = 1")
    own_kernel.manager.restart_kernel()
    own_kernel.client.wait_for_ready(timeout=PATIENCE)
    assert own_kernel.run("old").reply["ename"] == "NameError"


@pytest.mark.parametrize("code", ["exit", "quit()", "exit()"])
def test_exit_ends_the_kernel_after_its_reply(own_kernel, code):
    cell = own_kernel.run(code)
    assert cell.status == "ok"
    assert cell.reply["payload"] == [{"source": "ask_exit", "keepkernel": False}]
    wait_for_end(own_kernel.manager.provisioner.pid)


def test_sigterm_ends_the_kernel_in_good_order(own_kernel):
    pid = own_kernel.manager.provisioner.pid
    os.kill(pid, signal.SIGTERM)
    wait_for_end(pid)


def test_a_kernel_does_not_outlive_its_server(jupyter_home, tmp_path):
    code = ("import sys, time; from jupyter_client.manager import start_new_kernel\n"
            "manager, client = start_new_kernel(kernel_name='pxpython')\n"
            "print(manager.provisioner.pid, flush=True); time.sleep(600)")
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(server.stdout.readline())
    assert psutil.pid_exists(pid)
    server.kill()
    server.communicate()
    wait_for_end(pid)


def test_startup_files_and_configuration_are_the_users(jupyter_home):
    profile = jupyter_home / "ipython/profile_default"
    (profile / "startup").mkdir(parents=True, exist_ok=True)
    startup, config = profile / "startup/10.py", profile / "ipython_kernel_config.py"
    startup.write_text("from_startup = 'here'\n")
    config.write_text("c.InteractiveShellApp.exec_lines = ['from_line = 5']\n"
                      "c.IPKernelApp.extensions = []\nc.InteractiveShell.xmode = 'Plain'\n")
    try:
        driver = start_driver()
        cell = driver.run("print(from_startup, from_line, get_ipython().xmode, __name__)")
        driver.close()
    finally:
        startup.unlink()
        config.unlink()
    assert cell.text() == "here 5 Plain __main__\n"


def test_the_working_folder_is_the_notebooks(jupyter_home, tmp_path):
    (tmp_path / "beside.py").write_text("x = 'imported'\n")
    driver = start_driver(cwd=str(tmp_path))
    cell = driver.run("import beside, os; print(beside.x, os.getcwd())")
    driver.close()
    assert cell.text() == f"imported {tmp_path}\n"


def test_history_lasts_longer_than_a_kernel(jupyter_home):
    first = start_driver()
    first.run("remember_this = 1")
    first.close(now=False)  # IPython writes its history a moment after the cell
    second = start_driver()
    request = second.client.history(hist_access_type="search", pattern="remember_*", raw=True, n=1)
    history = second.reply_to(request)["content"]["history"]
    second.close()
    assert history and history[0][2] == "remember_this = 1"


def test_sockets_in_the_file_system_work(jupyter_home, tmp_path):
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="pxpython", transport="ipc", ip=str(tmp_path / "k"))
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE)
    driver = Driver(manager, client)
    assert driver.run("print('by ipc')").text() == "by ipc\n"
    driver.close()


@pytest.mark.parametrize("transport", ["tcp", "ipc"])
def test_connections_can_be_encrypted(jupyter_home, tmp_path, transport):
    import zmq
    from jupyter_client.manager import KernelManager

    place = {"transport": "ipc", "ip": str(tmp_path / "k")} if transport == "ipc" else {}
    manager = KernelManager(kernel_name="pxpython", **place)
    manager.curve_publickey, manager.curve_secretkey = zmq.curve_keypair()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE)
    driver = Driver(manager, client)
    assert driver.run("print('unread')").text() == "unread\n"
    driver.close()


# ---------------------------------------------------------------- pxkernel install


def test_an_installed_kernelspec_starts_by_its_name(jupyter_home, tmp_path):
    prefix, home = tmp_path / "prefix", tmp_path / "home"
    home.mkdir()
    done = pxkernel("install", f"--prefix={prefix}", "--name=mine", "--display-name=My own")
    assert done.returncode == 0, done.stderr
    folder = prefix / "share/jupyter/kernels/mine"
    spec = json.loads((folder / "kernel.json").read_text())
    assert spec["display_name"] == "My own" and spec["argv"][0] == sys.executable
    assert (folder / "logo-64x64.png").exists() and (folder / "logo-svg.svg").exists()
    code = ("from jupyter_client.manager import start_new_kernel as start\n"
            "manager, client = start(kernel_name='mine', startup_timeout=60)\n"
            "print(client.execute_interactive('x = 1', timeout=60)['content']['status'])\n"
            "client.stop_channels(); manager.shutdown_kernel()")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home),
                   "JUPYTER_PATH": str(prefix / "share/jupyter"),
                   "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    run = subprocess.run([sys.executable, "-c", code], env=environment, text=True,
                         capture_output=True, timeout=PATIENCE * 2)
    assert run.stdout.splitlines()[-1:] == ["ok"], run.stderr
    gone = pxkernel("uninstall", f"--prefix={prefix}", "--name=mine")
    assert gone.returncode == 0 and not folder.exists()


def test_mistakes_on_the_command_line_are_said(tmp_path):
    nothing = pxkernel()
    assert nothing.returncode == 2 and "pxkernel install" in nothing.stderr
    missing = pxkernel("uninstall", f"--prefix={tmp_path}")
    assert missing.returncode == 1 and "no kernelspec" in missing.stderr
    name = pxkernel("install", f"--prefix={tmp_path}", "--name=a/b")
    assert name.returncode == 1 and "a/b" in name.stderr
    both = pxkernel("install", "--user", f"--prefix={tmp_path}")
    assert both.returncode == 2 and "--user" in both.stderr
    unknown = pxkernel("instal")
    assert unknown.returncode == 2 and "'instal'; did you mean install?" in unknown.stderr
    trait = pxkernel("-f", "x.json", "--InteractiveShell.xmod=Plain")
    assert trait.returncode == 2 and "did you mean --InteractiveShell.xmode?" in trait.stderr
    section = pxkernel("-f", "x.json", "--InteractiveShel.xmode=Plain")
    assert section.returncode == 2 and "did you mean --InteractiveShell.xmode?" in section.stderr
    extension = pxkernel("-f", "x.json", "--SomeExtension.depth=3")
    assert extension.returncode == 1 and "x.json" in extension.stderr  # it is IPython's to know
    (tmp_path / "file").write_text("")
    denied = pxkernel("install", f"--prefix={tmp_path / 'file'}")
    assert denied.returncode == 1 and "cannot install" in denied.stderr


def test_a_bad_connection_file_is_said(tmp_path):
    path = tmp_path / "kernel.json"
    absent = pxkernel("-f", str(path))
    assert absent.returncode == 1 and str(path) in absent.stderr
    path.write_text('{"ip": "127.0.0.1"}')
    bad = pxkernel("-f", str(path))
    assert bad.returncode == 1 and "shell_port" in bad.stderr


def test_help_and_version_need_no_kernel():
    assert "install" in pxkernel("--help").stdout
    version = pxkernel("--version")
    assert version.returncode == 0 and version.stdout.strip()[0].isdigit()
