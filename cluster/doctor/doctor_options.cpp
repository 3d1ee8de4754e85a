#include <px/cluster/doctor_options.hpp>

namespace px {

void add_doctor_options(CLI::App& app, DoctorOptions& options) {
  app.add_option("--file", options.file,
                 "Check this connection file (default: those of the profile, where there are any)");
  app.add_option("--hosts", options.hosts, "Check these hosts as well, through ssh: host2,host3")
      ->delimiter(',');
  app.add_option("--remote", options.remote,
                 "The program pxcluster on those hosts (default: the path of this one)");
  app.add_option("--ssh-cmd", options.ssh, "The program ssh and options of it")->delimiter(' ');
  app.add_option("--python", options.python, "The Python of the engines");
  app.add_option("--mpiexec", options.mpiexec, "The program mpiexec");
  app.add_flag("--mpi", options.needs_mpi, "Engines are to be started by mpiexec: MPI is needed");
  app.add_flag("--json", options.as_json, "Print the findings as JSON");
  app.add_flag("--facts", options.is_facts, "Print what was found on this host, unjudged, as JSON");
  app.add_option("--dial", options.dial, "")->delimiter(',')->group("");
}

}  // namespace px
