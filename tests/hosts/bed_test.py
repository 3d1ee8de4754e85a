"""The bed itself: hosts of their own, reachable by ssh, and faults that can be planted and healed."""

import bed as beds


def test_each_host_has_a_name_a_home_and_a_folder_that_all_share(bed):
    (bed.folder / "shared").write_text("seen by all")
    for host in bed.hosts:
        told = bed.exec_on(host, "sh", "-c", "hostname; echo $HOME; cat shared").stdout
        assert told.splitlines() == [host, beds.HOME, "seen by all"]


def test_ssh_reaches_every_host_from_every_other(bed):
    assert bed.exec_on("host1", "ssh", "host2", "hostname").stdout == "host2\n"


def test_what_was_started_is_found_and_ended_by_its_id(bed):
    started = bed.start_on("host3", "sleep", "1234")
    found = beds.wait_until(lambda: bed.processes("host3", "sleep", "1234"), "it runs")
    bed.kill("host3", found[0][0])
    assert started.wait(timeout=beds.PATIENCE) != 0
    assert bed.processes("host3", "sleep", "1234") == []


def test_a_partition_cuts_two_hosts_apart_until_it_heals(bed):
    reach = ("timeout", "2", "bash", "-c", "exec 3<>/dev/tcp/host2/22")
    bed.partition("host1", "host2")
    assert bed.exec_on("host1", *reach, check=False).returncode != 0
    assert bed.exec_on("host3", *reach, check=False).returncode == 0
    bed.heal()
    assert bed.exec_on("host1", *reach, check=False).returncode == 0
