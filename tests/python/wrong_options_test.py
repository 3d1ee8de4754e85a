"""No keyword of Client and Cluster is ignored in silence: each is refused where its value is wrong."""

import inspect
import warnings

import pytest

import polyxeus as ipp
from polyxeus.cluster import start_settings
from polyxeus.cluster.cluster import Cluster

NOTHING_IS_WRONG = {"cluster"}  # Client's: the object that restart_engines() of the client asks
OF_CLIENT = {
    "connection_info": 5,
    "url_file": 5,
    "profile": 5,
    "profile_dir": 5,
    "ipython_dir": 5,
    "context": "a context",
    "debug": "yes",
    "sshserver": 5,
    "sshkey": "/no/such/key",
    "password": "secret",
    "paramiko": "yes",
    "timeout": "x",
    "cluster_id": 5,
}
OF_CLUSTER = {
    "n": "four",
    "engines": 5,
    "controller": 5,
    "language": 5,
    "profile": 5,
    "profile_dir": 5,
    "ipython_dir": 5,
    "cluster_id": 5,
    "cluster_file": 5,
    "controller_ip": 5,
    "controller_location": 5,
    "controller_args": "--log-level=10",
    "engine_args": "--log-level=10",
    "engine_timeout": "long",
    "delay": "long",
    "shutdown_atexit": "no",
    "log_level": [],
    "log": "a file",
    "config": "a file",
    "load_profile": "no",
    "parent": type("Parent", (), {"config": "a file"})(),
    "send_engines_connection_env": "no",
    "engine_launcher_class": 5,
    "controller_launcher_class": 5,
}
# Texts that only the part that uses them can judge, at the start of a cluster.
AT_THE_START = {"language": "cobol", "controller_ip": "nowhere", "engines": "slurmy"}


def keywords(function):
    return {name for name, each in inspect.signature(function).parameters.items()
            if name != "self" and each.kind is not each.VAR_KEYWORD}  # fmt: skip


def test_the_tables_have_each_keyword():
    assert set(OF_CLIENT) | NOTHING_IS_WRONG == keywords(ipp.Client.__init__)
    assert set(OF_CLUSTER) == keywords(ipp.Cluster.__init__)


@pytest.mark.parametrize("name", OF_CLIENT)
def test_client_refuses(name, folder):
    with pytest.raises((TypeError, ValueError, OSError, NotImplementedError)) as caught:
        ipp.Client(**{name: OF_CLIENT[name]})
    assert "no cluster is running" not in str(caught.value)


@pytest.mark.parametrize("name", OF_CLUSTER)
def test_cluster_refuses(name):
    with pytest.raises(TypeError) as caught:
        ipp.Cluster(**{name: OF_CLUSTER[name]})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", AT_THE_START)
def test_a_cluster_does_not_start_with(name, folder):
    with pytest.raises((RuntimeError, ValueError)):
        with ipp.Cluster(n=1, profile="refused", **{name: AT_THE_START[name]}):
            pass


@pytest.mark.parametrize("name", start_settings.KEYS)
def test_the_settings_of_launchers_are_refused(name, folder):
    """An object in a list is none of their values."""
    with pytest.raises(RuntimeError, match=f"'{name}'"):
        ipp.Cluster(n=1, profile="refused", **{name: [{"x": [1]}]}).start_cluster_sync()


@pytest.mark.parametrize("names", [("engines", "engine_launcher_class"), ("controller", "controller_launcher_class")])
def test_two_names_of_one_argument_are_not_both_taken(names):
    with pytest.raises(TypeError, match="not both"):
        ipp.Cluster(**{names[0]: "local", names[1]: "mpi"})
    assert ipp.Cluster(**{names[0]: "local", names[1]: "local"}).n is None


def test_what_has_no_effect_is_named(running):
    import zmq

    with pytest.warns(UserWarning, match="context= of Client has no effect"):
        ipp.Client(running.connection_file, context=zmq.Context.instance()).close()
    with pytest.warns(UserWarning, match="paramiko= of Client has no effect: OpenSSH"):
        ipp.Client(running.connection_file, paramiko=True).close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ipp.Client(running.connection_file, paramiko=False).close()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda cluster: cluster.start_cluster_sync("four"), "n must be the number"),
        (lambda cluster: cluster.start_engines_sync(n=-1), "n must be the number"),
        (lambda cluster: cluster.start_engines_sync(engine_set_id=5), "engine_set_id"),
        (lambda cluster: cluster.start_engines_sync(engine_cmd=["x"]), "engine_cmd"),
        (lambda cluster: cluster.start_controller_sync(controller_args="--nodb"), "controller_args"),
        (lambda cluster: cluster.start_controller_sync(ip="*"), "'ip'"),
        (lambda cluster: cluster.connect_client_sync(timout=5), "did you mean 'timeout'"),
    ],
)
def test_the_methods_of_cluster_refuse_what_they_do_not_know(call, words, own):
    with pytest.raises(TypeError, match=words):
        call(own(0).cluster)


@pytest.mark.parametrize("flag", ["block", "track"])
def test_flags_of_views_are_true_or_false(rc, flag):
    with pytest.raises(TypeError, match=f"{flag} must be True or False, not 'no'"):
        rc[:].set_flags(**{flag: "no"})


def test_arguments_with_blanks_arrive_as_they_are(folder):
    code = "words = 'a  b \"c\"'"
    with ipp.Cluster(n=1, profile="blanks", engine_args=["-c", code]) as rc:
        assert rc[0]["words"] == 'a  b "c"'


def test_each_coroutine_takes_what_its_twin_takes():
    for name in [each for each in vars(Cluster) if each.endswith("_sync")]:
        assert inspect.iscoroutinefunction(getattr(Cluster, name[: -len("_sync")])), name
