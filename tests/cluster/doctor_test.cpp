#include "cluster/doctor/doctor.hpp"

#include <gtest/gtest.h>

#include "cluster/doctor/doctor_command.hpp"
#include "cluster/doctor/doctor_facts.hpp"

namespace px::cluster {
namespace {

HostFacts healthy_host() {
  HostFacts facts;
  facts.host = "host1";
  facts.addresses = {"127.0.0.1", "10.0.0.1"};
  facts.name_addresses = {"10.0.0.1"};
  facts.polyxeus = "1.0";
  facts.controller = "/bin/pxcontroller";
  facts.engine = "/bin/pxengine";
  facts.python.path = "/env/bin/python";
  facts.python.version = "3.11.7";
  facts.python.polyxeus = "1.0";
  facts.python.ipython = "9.0";
  facts.python.mpi4py = "4.1.0";
  facts.python.mpi = "Open MPI v4.1.4, package: Debian OpenMPI";
  facts.python.mpi_interrupts = "on";
  facts.mpiexec = "/usr/bin/mpiexec";
  facts.mpiexec_version = "mpiexec (OpenRTE) 4.1.4";
  facts.limits = {4096, 4096, -1};
  facts.shared_bytes = 1ll << 30;
  return facts;
}

/// A file of a controller on another host, whose two ports are open.
FileFacts healthy_file() {
  FileFacts facts;
  facts.path = "client.json";
  facts.is_there = true;
  facts.owner = facts.user = 1000;
  facts.mode = 0600;
  facts.location = "host1";
  facts.candidates = {"10.0.0.1"};
  facts.dialed = {{"10.0.0.1", 4001, DialState::open}, {"10.0.0.1", 4002, DialState::open}};
  facts.is_answered = true;
  return facts;
}

RemoteFacts healthy_remote() {
  RemoteFacts remote;
  remote.name = "host2";
  remote.facts = healthy_host();
  remote.facts.host = "host2";
  remote.asked_at = 1000;
  remote.answered_at = 1002;
  remote.facts.unix_time = 1001;
  return remote;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// That there is this finding alone.
#define EXPECT_ONLY(findings, severity_, check_, in_what, in_fix) \
  do {                                                            \
    const Findings found = (findings);                            \
    ASSERT_EQ(found.size(), 1u) << findings_as_text(found);       \
    EXPECT_EQ(found[0].severity, severity_);                      \
    EXPECT_EQ(found[0].check, check_);                            \
    EXPECT_TRUE(says(found[0].what, in_what)) << found[0].what;   \
    EXPECT_TRUE(says(found[0].fix, in_fix)) << found[0].fix;      \
    EXPECT_FALSE(found[0].why.empty());                           \
  } while (false)

constexpr Severity error = Severity::error, warning = Severity::warning;

// ---------------------------------------------------------------- a host

TEST(Doctor, FindsNothingOnAHealthyHost) {
  EXPECT_EQ(examine_host(healthy_host(), false), Findings{});
  EXPECT_EQ(examine_host(healthy_host(), true), Findings{});
}

TEST(Doctor, MissesNoMpiWhereNobodyAsksForIt) {
  HostFacts facts = healthy_host();
  facts.mpiexec = facts.mpiexec_version = facts.python.mpi4py = facts.python.mpi = "";
  EXPECT_EQ(examine_host(facts, false), Findings{});
}

TEST(Doctor, NamesAMissingProgram) {
  HostFacts facts = healthy_host();
  facts.controller = "";
  EXPECT_ONLY(examine_host(facts, false), error, "programs", "pxcontroller", "PATH");
}

TEST(Doctor, NamesAMissingPython) {
  HostFacts facts = healthy_host();
  facts.python = {};
  EXPECT_ONLY(examine_host(facts, false), error, "python", "no Python", "--python");
}

TEST(Doctor, NamesAPythonThatDoesNotRun) {
  HostFacts facts = healthy_host();
  facts.python = {};
  facts.python.path = "/env/bin/python";
  facts.python.error = "libpython3.11.so: cannot open shared object file";
  EXPECT_ONLY(examine_host(facts, false), error, "python", "libpython3.11.so", "repair");
}

TEST(Doctor, NamesAPythonWithoutIPython) {
  HostFacts facts = healthy_host();
  facts.python.ipython = "";
  EXPECT_ONLY(examine_host(facts, false), error, "ipython", "no IPython",
              "/env/bin/python -m pip install ipython");
}

TEST(Doctor, NamesAPythonWithoutThePackage) {
  HostFacts facts = healthy_host();
  facts.python.polyxeus = "";
  EXPECT_ONLY(examine_host(facts, false), error, "polyxeus", "no package polyxeus",
              "/env/bin/python -m pip install FOLDER_OR_WHEEL");
  facts.package_source = "/src/polyxeus";
  EXPECT_ONLY(examine_host(facts, false), error, "polyxeus", "no package polyxeus",
              "/env/bin/python -m pip install '/src/polyxeus'");
}

TEST(Doctor, NamesAPackageOfAnotherVersion) {
  HostFacts facts = healthy_host();
  facts.python.polyxeus = "0.9";
  EXPECT_ONLY(examine_host(facts, false), warning, "polyxeus", "0.9", "polyxeus 1.0");
}

TEST(Doctor, NamesAnMpiexecThatIsNotThatOfMpi4py) {
  HostFacts facts = healthy_host();
  facts.mpiexec_version = "HYDRA build details:";
  EXPECT_ONLY(examine_host(facts, false), error, "mpi", "built for Open MPI", "mpiexec.openmpi");
  facts = healthy_host();
  facts.python.mpi = "MPICH Version: 4.0.2";
  EXPECT_ONLY(examine_host(facts, false), error, "mpi", "built for MPICH", "mpiexec.hydra");
}

TEST(Doctor, TakesTheMpisThatAreMadeOfMpichForOne) {
  HostFacts facts = healthy_host();
  facts.mpiexec_version = "Intel(R) MPI Library for Linux* OS, Version 2021.9";
  facts.python.mpi = "MPICH Version: 4.0.2";
  EXPECT_EQ(examine_host(facts, true), Findings{});
}

TEST(Doctor, NamesAMissingMpiexecWhereItIsNeeded) {
  HostFacts facts = healthy_host();
  facts.mpiexec = facts.mpiexec_version = "";
  EXPECT_EQ(examine_host(facts, false), Findings{});
  EXPECT_ONLY(examine_host(facts, true), error, "mpiexec", "no mpiexec", "module load");
}

TEST(Doctor, NamesAnMpi4pyThatCannotBeImported) {
  HostFacts facts = healthy_host();
  facts.python.mpi = "";
  facts.python.mpi_error = "libmpi.so.40: cannot open shared object file";
  EXPECT_ONLY(examine_host(facts, false), error, "mpi4py", "libmpi.so.40", "--force-reinstall");
}

TEST(Doctor, NamesMpiCallsThatCannotBeInterruptedWhereMpiIsNeeded) {
  HostFacts facts = healthy_host();
  facts.python.mpi_interrupts = "off: polyxeus was built without libpolyxeus_mpi_openmpi.so";
  EXPECT_EQ(examine_host(facts, false), Findings{});
  EXPECT_ONLY(examine_host(facts, true), warning, "mpi", "cannot be interrupted", "mpicc");
  facts.python.mpi_interrupts = "off: POLYXEUS_MPI_INTERRUPTS=0";  // as the user wants it
  EXPECT_EQ(examine_host(facts, true), Findings{});
}

TEST(Doctor, NamesAnSrunWithoutThePmiOfTheLibrary) {
  HostFacts facts = healthy_host();
  facts.has_srun = true;
  facts.pmi = {"none", "pmi2"};
  EXPECT_ONLY(examine_host(facts, false), warning, "pmi", "pmix", "mpiexec in the job");
  facts.pmi.push_back("pmix_v4");
  EXPECT_EQ(examine_host(facts, false), Findings{});
}

TEST(Doctor, NamesAHostNameThatDoesNotResolve) {
  HostFacts facts = healthy_host();
  facts.name_addresses = {};
  EXPECT_ONLY(examine_host(facts, false), warning, "name", "host1", "/etc/hosts");
}

TEST(Doctor, NamesAHostNameThatIsAnotherHosts) {
  HostFacts facts = healthy_host();
  facts.name_addresses = {"10.0.0.77"};
  EXPECT_ONLY(examine_host(facts, false), error, "name", "10.0.0.77", "--location");
}

TEST(Doctor, FindsNoFaultInANameThatMeansTheLoopback) {
  HostFacts facts = healthy_host();
  facts.name_addresses = {"127.0.1.1"};
  EXPECT_EQ(examine_host(facts, false), Findings{});
}

TEST(Doctor, NamesLowLimits) {
  HostFacts facts = healthy_host();
  facts.limits.open_files = 256;
  EXPECT_ONLY(examine_host(facts, false), warning, "limits", "256 files", "nofile");
  facts = healthy_host();
  facts.limits.processes = 100;
  EXPECT_ONLY(examine_host(facts, false), warning, "limits", "100 processes", "ulimit -u");
}

TEST(Doctor, AsksForLockedMemoryWithInfiniBandOnly) {
  HostFacts facts = healthy_host();
  facts.limits.locked_bytes = 65536;
  EXPECT_EQ(examine_host(facts, true), Findings{});
  facts.has_infiniband = true;
  EXPECT_ONLY(examine_host(facts, true), warning, "limits", "64 KiB", "ulimit -l");
}

TEST(Doctor, NamesSharedMemoryThatIsFullOrMissing) {
  HostFacts facts = healthy_host();
  facts.shared_bytes = 1 << 20;
  EXPECT_ONLY(examine_host(facts, false), warning, "shm", "1 MiB", "--shm-size");
  facts.shared_bytes = 64 << 20;  // of a container
  EXPECT_ONLY(examine_host(facts, false), warning, "shm", "64 MiB", "--shm-size");
  facts.shared_error = "does not exist";
  EXPECT_ONLY(examine_host(facts, false), error, "shm", "does not exist",
              "mkdir -p /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm");
}

TEST(Doctor, AFolderOnADiskIsNoSharedMemory) {
  EXPECT_EQ(shared_memory_error("/nowhere/shm"), "does not exist");
  EXPECT_NE(shared_memory_error("/proc").find("no tmpfs"), std::string::npos);
}

TEST(Doctor, NamesAFullHomeOnce) {
  HostFacts facts = healthy_host();
  facts.folders = {{"profile", "/home/ann/.ipython/profile_default", "No space left on device"},
                   {"home", "/home/ann", "No space left on device"},
                   {"temporary files", "/tmp", ""}};
  EXPECT_ONLY(examine_host(facts, false), error, "folders", "No space left", "du -sh");
}

TEST(Doctor, NamesAHomeThatCannotBeWritten) {
  HostFacts facts = healthy_host();
  facts.folders = {{"home", "/home/ann", "Permission denied"}};
  EXPECT_ONLY(examine_host(facts, false), error, "folders", "/home/ann", "export HOME=");
  facts.folders = {{"temporary files", "/tmp", "Permission denied"}};
  EXPECT_ONLY(examine_host(facts, false), error, "folders", "/tmp", "export TMPDIR=");
}

TEST(Doctor, NamesAWrongMpiexecThatTheUserNamedWhateverStartsTheEngines) {
  HostFacts facts = healthy_host();
  facts.mpiexec_wanted = "/nowhere/mpiexec";
  facts.mpiexec = facts.mpiexec_version = "";
  EXPECT_ONLY(examine_host(facts, false), error, "mpiexec", "/nowhere/mpiexec", "--mpi-cmd");
  facts.mpiexec = "/bin/false";
  facts.mpiexec_error = "`/bin/false --version` ended with exit code 1";
  EXPECT_ONLY(examine_host(facts, true), error, "mpiexec", "exit code 1", "--mpi-cmd");
}

TEST(Doctor, SaysWhatItHasCheckedWhereAllIsWell) {
  const std::string text = findings_as_text({}, checks_of(healthy_host(), {healthy_file()}, {}));
  for (const char* part : {"no problems found", "/bin/pxengine", "Python 3.11.7", "Open MPI v4.1.4",
                           "interrupts of MPI calls: on", "host1 is 10.0.0.1", "4096 open files",
                           "1024 MiB", "client.json", "no cluster on record"})
    EXPECT_TRUE(says(text, part)) << part << " in\n" << text;
}

TEST(Doctor, NamesTheLibraryThatTheCppEngineLacks) {
  HostFacts facts = healthy_host();
  facts.cpp_error = "error while loading shared libraries: libclang-cpp.so.22";
  EXPECT_ONLY(examine_host(facts, false), error, "cpp", "libclang-cpp.so.22", "libclang-cpp22");
}

TEST(Doctor, NamesASshServerThatTheFileNeedsAndThatLetsNobodyIn) {
  FileFacts facts = healthy_file();
  facts.dialed.clear();
  facts.tunnel = "ann@gate";
  facts.is_answered = true;
  EXPECT_EQ(examine_file(facts), Findings{});
  facts.tunnel_error = "ssh cannot open a tunnel to ann@gate: Permission denied";
  EXPECT_ONLY(examine_file(facts), error, "ssh", "Permission denied", "ssh ann@gate hostname");
  facts.tunnel_error.clear();
  facts.is_answered = false;
  EXPECT_ONLY(examine_file(facts), error, "key", "behind the ssh tunnel", "copy the current file");
}

TEST(Doctor, TheFactsOfAHostSurviveTheWayToAnother) {
  HostFacts facts = healthy_host();
  facts.dialed = {{"10.0.0.1", 4001, DialState::refused}};
  facts.pmi = {"pmix"};
  const auto read = read_host_facts(write_host_facts(facts));
  ASSERT_TRUE(read);
  EXPECT_EQ(write_host_facts(*read), write_host_facts(facts));
  EXPECT_EQ(read->dialed.at(0).state, DialState::refused);
  EXPECT_EQ(read->limits.processes, 4096);
  EXPECT_EQ(read_host_facts(Json{{"host", "old"}, {"python", Json::object()}})->shared_bytes, -1);
}

TEST(Doctor, WhatIsNoDescriptionOfAHostIsRefused) {
  EXPECT_FALSE(read_host_facts(Json::array()));
  EXPECT_FALSE(read_host_facts(Json{{"host", "x"}}));
  EXPECT_FALSE(read_host_facts(Json{{"host", 7}, {"python", Json::object()}}));
}

// ---------------------------------------------------------------- a connection file

TEST(Doctor, FindsNothingInTheFileOfALivingController) {
  EXPECT_EQ(examine_file(healthy_file()), Findings{});
}

EngineFacts engine_on(const std::string& host) {
  EngineFacts facts;
  facts.host = host;
  return facts;
}

TEST(Doctor, NamesLostEnginesAndAsksTheHostsOfAll) {
  FileFacts facts = healthy_file();
  facts.engines = {engine_on("host1"), engine_on("host2"), engine_on("host2")};
  facts.lost = {engine_on("host3")};
  EXPECT_ONLY(examine_file(facts), error, "engines", "1 on host3", "pxcluster restart");
  EXPECT_EQ(hosts_of({facts}, "host1"), (std::vector<std::string>{"host2", "host3"}));
}

TEST(Doctor, SaysWhetherTheEnginesThatRunCanInterruptMpiCalls) {
  FileFacts facts = healthy_file();
  facts.engines = {engine_on("host1")};
  facts.engines[0].mpi = "Open MPI v4.1.4";
  facts.engines[0].mpi_interrupts = "on";
  const std::string text = findings_as_text({}, checks_of(healthy_host(), {facts}, {}));
  EXPECT_TRUE(says(text, "1 engine is there; interrupts of MPI calls: on (Open MPI v4.1.4)"))
      << text;
}

TEST(Doctor, SaysWhichGpusAreThereAndWhoUsesThem) {
  HostFacts host = healthy_host();
  EXPECT_FALSE(says(findings_as_text({}, checks_of(host, {}, {})), "GPU"));
  host.nvidia_gpus = 2;
  FileFacts file = healthy_file();
  file.engines = {engine_on("host1"), engine_on("host1"), engine_on("host2")};
  file.engines[0].gpus = "0";
  file.engines[1].gpus = "1";
  const std::string text = findings_as_text({}, checks_of(host, {file}, {}));
  EXPECT_TRUE(says(text, "2 GPUs of NVIDIA")) << text;
  EXPECT_TRUE(says(text, "; GPU 0 on host1: 1 engine, GPU 1 on host1: 1 engine")) << text;
}

TEST(Doctor, NamesAMissingFile) {
  FileFacts facts;
  facts.path = "client.json";
  EXPECT_ONLY(examine_file(facts), error, "file", "no connection file", "pxcluster start");
}

TEST(Doctor, NamesAFileThatIsNone) {
  FileFacts facts = healthy_file();
  facts.error = "it is not JSON";
  EXPECT_ONLY(examine_file(facts), error, "file", "not JSON", "copy the whole file");
}

TEST(Doctor, NamesAFileThatOthersMayRead) {
  FileFacts facts = healthy_file();
  facts.mode = 0644;
  EXPECT_ONLY(examine_file(facts), error, "permissions", "0644", "chmod 600 client.json");
}

TEST(Doctor, NamesAFileOfSomebodyElse) {
  FileFacts facts = healthy_file();
  facts.owner = 1001;
  EXPECT_ONLY(examine_file(facts), error, "owner", "user 1001", "chmod 600");
}

TEST(Doctor, NamesAFileWhoseControllerHasEndedHere) {
  FileFacts facts = healthy_file();
  facts.is_own_host = true;
  for (Dialed& each : facts.dialed) each.state = DialState::refused;
  EXPECT_ONLY(examine_file(facts), error, "stale", "no program listens", "rm 'client.json'");
  facts.profile_dir = "/home/ann/profile_a";
  EXPECT_ONLY(examine_file(facts), error, "stale", "no program listens",
              "pxcluster clean --profile-dir='/home/ann/profile_a'");
}

TEST(Doctor, NamesAHostThatRefuses) {
  FileFacts facts = healthy_file();
  for (Dialed& each : facts.dialed) each.state = DialState::refused;
  EXPECT_ONLY(examine_file(facts), error, "refused", "10.0.0.1 answers", "--ip='*'");
}

TEST(Doctor, NamesAFirewallThatDropsAll) {
  FileFacts facts = healthy_file();
  for (Dialed& each : facts.dialed) each.state = DialState::silent;
  EXPECT_ONLY(examine_file(facts), error, "firewall", "10.0.0.1 does not answer", "--ports=");
}

TEST(Doctor, NamesTheOnePortThatIsClosed) {
  FileFacts facts = healthy_file();
  facts.dialed[1].state = DialState::silent;
  EXPECT_ONLY(examine_file(facts), error, "port", "port 4002: no answer", "firewall of host1");
}

TEST(Doctor, NamesAnAddressToWhichNoWayLeads) {
  FileFacts facts = healthy_file();
  for (Dialed& each : facts.dialed) each.state = DialState::unreachable;
  EXPECT_ONLY(examine_file(facts), error, "address", "cannot be reached", "--location");
}

TEST(Doctor, NamesANameThatDoesNotResolve) {
  FileFacts facts = healthy_file();
  facts.candidates = facts.unresolved = {"nowhere"};
  facts.dialed.clear();
  EXPECT_ONLY(examine_file(facts), error, "name", "nowhere", "--location");
}

TEST(Doctor, OneAddressThatWorksIsEnough) {
  FileFacts facts = healthy_file();
  facts.candidates = {"192.168.9.9", "10.0.0.1"};
  facts.dialed.insert(facts.dialed.begin(), {"192.168.9.9", 4001, DialState::silent});
  EXPECT_EQ(examine_file(facts), Findings{});
}

TEST(Doctor, NamesAControllerThatDoesNotKnowTheKey) {
  FileFacts facts = healthy_file();
  facts.is_answered = false;
  EXPECT_ONLY(examine_file(facts), error, "key", "does not accept this file's key", "copy");
}

// ---------------------------------------------------------------- what was left, other hosts

TEST(Doctor, NamesAClusterThatLeftItsFileBehind) {
  EXPECT_EQ(examine_clusters({{"cluster-.json", "/p", "", "", 5, 5}}), Findings{});
  const auto clusters = [](int living) {
    return std::vector<ClusterFacts>{
        {"cluster-b.json", "/p", "b", "/p/log/ipcontroller-b-7.log", 5, living}};
  };
  EXPECT_ONLY(examine_clusters(clusters(0)), warning, "leftover", "and 0 run",
              "pxcluster clean --profile-dir='/p'");
  EXPECT_TRUE(says(examine_clusters(clusters(0))[0].why, "/p/log/ipcontroller-b-7.log"));
  EXPECT_ONLY(examine_clusters(clusters(2)), warning, "leftover", "and 2 run",
              "pxcluster stop --profile-dir='/p' --cluster-id='b'");
}

TEST(Doctor, FindsNothingOnAnotherHostThatIsLikeThisOne) {
  EXPECT_EQ(examine_remote(healthy_remote(), healthy_host(), true), Findings{});
}

TEST(Doctor, NamesAHostThatCannotBeAsked) {
  RemoteFacts remote;
  remote.name = "host2";
  remote.error = "Permission denied (publickey).";
  EXPECT_ONLY(examine_remote(remote, healthy_host(), false), error, "ssh", "Permission denied",
              "ssh host2 hostname");
  remote.error = "bash: /opt/pxcluster: No such file or directory";
  EXPECT_ONLY(examine_remote(remote, healthy_host(), false), error, "ssh", "No such file",
              "install polyxeus there");
}

TEST(Doctor, NamesAnotherPythonThere) {
  RemoteFacts remote = healthy_remote();
  remote.facts.python.version = "3.10.2";
  EXPECT_ONLY(examine_remote(remote, healthy_host(), false), error, "versions",
              "host2: its Python version is 3.10.2", "Python 3.11");
  remote.facts.python.version = "3.11.2";
  EXPECT_EQ(examine_remote(remote, healthy_host(), false), Findings{});
}

TEST(Doctor, NamesAnotherMpiThere) {
  RemoteFacts remote = healthy_remote();
  remote.facts.python.mpi = "MPICH Version: 4.0.2";
  remote.facts.mpiexec_version = "HYDRA build details:";
  EXPECT_ONLY(examine_remote(remote, healthy_host(), false), error, "versions", "MPICH",
              "one MPI on all hosts");
}

TEST(Doctor, NamesAClockThatIsWrong) {
  RemoteFacts remote = healthy_remote();
  remote.facts.unix_time = 1121;
  EXPECT_ONLY(examine_remote(remote, healthy_host(), false), warning, "clock", "120 s ahead",
              "NTP");
  remote.facts.unix_time = 1002.5;  // within what the way there may have taken
  EXPECT_EQ(examine_remote(remote, healthy_host(), false), Findings{});
}

TEST(Doctor, NamesAPortThatThatHostCannotReach) {
  RemoteFacts remote = healthy_remote();
  remote.facts.dialed = {{"10.0.0.1", 4001, DialState::silent}};
  EXPECT_ONLY(examine_remote(remote, healthy_host(), false), error, "port",
              "10.0.0.1 does not answer at port 4001", "firewall");
  remote.facts.dialed = {{"10.0.0.1", 4001, DialState::unreachable},
                         {"10.1.0.1", 4001, DialState::open},
                         {"10.1.0.1", 4002, DialState::refused}};
  EXPECT_ONLY(examine_remote(remote, healthy_host(), false), error, "port",
              "10.1.0.1 refuses port 4002", "--ip='*'");
}

TEST(Doctor, IsContentWithOneAddressThatAnotherHostReaches) {
  RemoteFacts remote = healthy_remote();
  remote.facts.dialed = {{"10.0.0.1", 4001, DialState::silent},
                         {"10.1.0.1", 4001, DialState::open}};
  EXPECT_EQ(examine_remote(remote, healthy_host(), false), Findings{});
}

TEST(Doctor, TellsAnErrorBeforeAWarning) {
  const Finding small{warning, "a", "", "", ""}, big{error, "b", "", "", ""};
  EXPECT_EQ(most_likely({}), nullptr);
  const Findings both{small, big};
  EXPECT_EQ(most_likely(both)->check, "b");
  EXPECT_EQ(findings_as_text(both).find("error [b]"), 0u);
  EXPECT_EQ(findings_as_json(both)["findings"][0]["severity"], "warning");
}

}  // namespace
}  // namespace px::cluster
