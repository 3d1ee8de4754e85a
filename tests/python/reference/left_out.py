"""The tests of ipyparallel that cannot apply to polyxeus, and why."""

_TRACKER = "looks at a pyzmq MessageTracker; wait_for_send() itself is tested in tests/python"
_STOP = (
    "expects an interrupted cell to succeed; here it fails, so that what waits behind it does not "
    "run: tests/kernel_magics/interrupt_magics_test.py"
)
_CONFIG = "about ipyparallel's launcher classes and traitlets configuration"

LEFT_OUT = {
    "test_apply_tracked": _TRACKER,
    "test_scatter_tracked": _TRACKER,
    "test_push_tracked": _TRACKER,
    "test_wait_for_send": _TRACKER,
    "TestClient::test_curve": "looks at the key inside of the client's session",
    "TestClient::test_purge_everything": "looks at the list of signatures in the client's session",
    "test_use_cloudpickle": "the engine's own value always wins; use_cloudpickle() changes nothing",
    "test_cloudpickle_require": "expects @require to fail with cloudpickle; here it works",
    "test_require_function": "expects a NameError; here a function travels with those it calls",
    "test_warning_on_hostname_match": "patches functions inside of the client",
    "test_default_backend": "replaces Client.__new__ by one that gives another's client",
    "test_cluster_abbreviations": _CONFIG,
    "test_ipython_log": _CONFIG,
    "test_load_profile": _CONFIG,
    "test_start_stop_controller": _CONFIG,
    "test_restart_engines": "waits until the ids are gone; here the new engines have them: engine_restart_test.py",
    "test_autopx_blocking": "looks for the traceback on stdout; here it stands on stderr, once",
    "test_cellpx_keyboard_interrupt_default": _STOP,
    "test_cellpx_keyboard_interrupt_SIGINT": _STOP,
    "test_cellpx_keyboard_interrupt_signal_2": _STOP,
    "test_cellpx_keyboard_interrupt_signal_0": _STOP,
    "test_cellpx_keyboard_interrupt_SIGKILL": _STOP,
    "test_cellpx_keyboard_interrupt_signal_9": _STOP,
    "test_start_and_connect_activate": "looks for a view; our magics connect when they are used",
    "test_get_output": "looks for a sentence of ipyparallel's engine in its log",
}
