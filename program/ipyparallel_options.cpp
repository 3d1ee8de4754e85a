#include "program/ipyparallel_options.hpp"

#include <array>

namespace px::program {
namespace {

/// Classes, and the traits that each of them has; separated by blanks.
struct Traits {
  std::string_view classes;
  std::string_view traits;
};

constexpr std::array trait_table{
    Traits{
        "Application BaseIPythonApplication BaseParallelApplication IPController IPControllerApp "
        "IPEngine IPEngineApp IPCluster IPClusterStart IPClusterEngines IPClusterStop "
        "IPClusterList IPClusterClean",
        "add_ipython_dir_to_sys_path auto_create clean_logs copy_config_files extra_config_file "
        "log_datefmt log_format log_url logging_config overwrite verbose_crash"},
    Traits{"IPController IPControllerApp HubFactory",
           "broadcast_scheduler_depth client_ip client_json_file client_ports client_transport "
           "control curve_publickey curve_secretkey db_class enable_curve engine_ip "
           "engine_json_file engine_ports engine_ssh_server engine_transport hb iopub ip location "
           "mon_port monitor_ip monitor_transport mux notifier_port ports registration_timeout "
           "regport restore_engines reuse_files ssh_server task transport use_threads"},
    Traits{"IPEngine IPEngineApp EngineFactory",
           "curve_publickey curve_secretkey curve_serverkey display_hook_factory enable_nanny id "
           "init_mpi location max_heartbeat_misses mpi_registration_delay out_stream_factory "
           "paramiko registration_url sshkey sshserver startup_command startup_script timeout "
           "url_file url_file_name use_mpi wait_for_url_file"},
    Traits{"Session",
           "buffer_threshold check_pid copy_threshold debug digest_history_size item_threshold key "
           "keyfile metadata packer session signature_scheme unpacker username"},
    Traits{"TaskScheduler", "hwm scheme_name"},
    Traits{"HeartMonitor", "debug max_heartmonitor_misses period"},
    Traits{"DictDB", "cull_fraction record_limit size_limit"},
    Traits{"SQLiteDB", "filename location table"},
    Traits{"MongoDB", "connection_args connection_kwargs database"},
    Traits{
        "InteractiveShell ZMQInteractiveShell",
        "ast_node_interactivity ast_transformers autoawait autocall autoindent automagic banner1 "
        "banner2 cache_size colors debug display_page enable_html_pager enable_tip history_length "
        "history_load_length inspector_class ipython_dir logappend logfile logstart loop_runner "
        "object_info_string_level pdb quiet separate_in separate_out separate_out2 "
        "show_rewritten_input sphinxify_docstring system_raise_on_error warn_venv "
        "wildcards_case_sensitive xmode"},
    Traits{"Kernel IPythonKernel IPythonParallelKernel",
           "_darwin_app_nap _execute_sleep _poll_interval debug_just_my_code "
           "filter_internal_frames help_links stop_on_error_timeout use_experimental_completions"},
    Traits{"IPClusterEngines IPClusterStart", "daemonize early_shutdown"},
    Traits{"IPClusterStop", "all_cluster_ids signal"},
    Traits{"IPClusterList", "output_format"},
    Traits{"IPClusterClean", "all_profiles force"},
    Traits{"Cluster",
           "controller_args controller_ip controller_launcher_class controller_location delay "
           "engine_launcher_class engine_timeout load_profile n send_engines_connection_env"},
    Traits{
        "BaseLauncher ControllerLauncher EngineLauncher LocalProcessLauncher "
        "LocalControllerLauncher LocalEngineLauncher LocalEngineSetLauncher MPILauncher "
        "MPIControllerLauncher MPIEngineSetLauncher SSHLauncher SSHControllerLauncher "
        "SSHEngineLauncher SSHEngineSetLauncher SSHProxyEngineSetLauncher BatchSystemLauncher "
        "BatchControllerLauncher BatchEngineSetLauncher HTCondorLauncher "
        "HTCondorControllerLauncher HTCondorEngineSetLauncher LSFLauncher LSFControllerLauncher "
        "LSFEngineSetLauncher PBSLauncher PBSControllerLauncher PBSEngineSetLauncher SGELauncher "
        "SGEControllerLauncher SGEEngineSetLauncher SlurmLauncher SlurmControllerLauncher "
        "SlurmEngineSetLauncher WindowsHPCLauncher WindowsHPCControllerLauncher "
        "WindowsHPCEngineSetLauncher",
        "account batch_file_name batch_template batch_template_file connection_info_timeout "
        "controller_args controller_cmd delay delete_command engine_args engine_cmd engines "
        "environment hostname ipcluster_args ipcluster_cmd job_cmd job_file_name job_id_regexp "
        "job_id_regexp_group location mpi_args mpi_cmd namespace options output_file "
        "output_limit poll_seconds qos queue remote_profile_dir remote_python scheduler "
        "scp_args scp_cmd signal_command ssh_args ssh_cmd stop_seconds_until_kill stop_timeout "
        "submit_command timelimit to_fetch to_send user"},
};

struct Names {
  IpyparallelProgram peer;
  std::string_view values, flags;
};

constexpr std::array name_table{
    Names{IpyparallelProgram::ipcluster, "clean-logs config log-url", "init"},
    Names{IpyparallelProgram::ipcontroller, "clean-logs log-url", "init usethreads"},
    Names{IpyparallelProgram::ipengine, "clean-logs config keyfile log-url url",
          "init no-secure secure"},
};

bool contains(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = list.find(' ');
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
  return false;
}

}  // namespace

PeerOption option_of_peer(IpyparallelProgram peer, std::string_view name) {
  if (peer == IpyparallelProgram::none) return PeerOption::unknown;
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    for (const Traits& row : trait_table)
      if (contains(row.classes, name.substr(0, dot)) && contains(row.traits, name.substr(dot + 1)))
        return PeerOption::value;
    return PeerOption::unknown;
  }
  for (const Names& row : name_table) {
    if (row.peer != peer) continue;
    if (contains(row.values, name)) return PeerOption::value;
    if (contains(row.flags, name)) return PeerOption::flag;
  }
  return PeerOption::unknown;
}

}  // namespace px::program
