#include "cluster/doctor/doctor_options.hpp"

namespace px::cluster {

void add_doctor_options(CLI::App& app, DoctorOptions& options) {
  app.add_option("--file", options.file,
                 "Check this connection file (default: those of the profile, if it has any)");
  app.add_option("--hosts", options.hosts, "Check these hosts as well, through ssh: host2,host3")
      ->delimiter(',');
  app.add_option("--remote", options.remote,
                 "The program pxcluster on those hosts (default: the path of this one)");
  app.add_option("--ssh-cmd", options.ssh, "The ssh command, with options")->delimiter(' ');
  app.add_option("--python", options.python, "The Python of the engines");
  app.add_option("--mpi-cmd,--mpiexec", options.mpiexec, "The program mpiexec");
  app.add_flag("--mpi", options.needs_mpi, "Check what --engines=mpi needs");
  app.add_flag("--json", options.as_json, "Print the findings as JSON");
  app.add_flag("--facts", options.is_facts,
               "Print the facts about this host as JSON, without findings");
  app.add_option("--dial", options.dial, "")->delimiter(',')->group("");
}

}  // namespace px::cluster
