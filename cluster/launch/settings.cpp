#include "cluster/launch/settings.hpp"

#include <algorithm>
#include <cctype>
#include <functional>

#include "os/command_words.hpp"
#include "program/thread_share.hpp"
#include "wire/checked_json.hpp"
#include "wire/nearest_name.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

/// Stores a JSON value in the settings; false: it has the wrong type.
using Store = std::function<bool(Settings&, const Json&)>;

struct Key {
  std::string_view name;    ///< In our profiles.
  std::string_view family;  ///< Of the classes in an ipcluster_config.json that have it.
  std::string_view trait;   ///< Its name there, or empty.
  std::string_view type;    ///< For the error.
  Store store;
};

Store text(std::string Settings::* member) {
  return [member](Settings& settings, const Json& value) {
    if (!value.is_string()) return false;
    settings.*member = value.get<std::string>();
    return true;
  };
}

template <class Seconds>  // double, or an optional one
Store number_of_seconds(Seconds Settings::*member) {
  return [member](Settings& settings, const Json& value) {
    if (!value.is_number() || value.get<double>() < 0) return false;
    settings.*member = value.get<double>();
    return true;
  };
}

/// A list of strings, or one string that is cut into words.
Store word_list(std::vector<std::string> Settings::* member) {
  return [member](Settings& settings, const Json& value) {
    if (value.is_string()) {
      settings.*member = os::split_words(value.get<std::string>()).words;
      return true;
    }
    if (!value.is_array()) return false;
    std::vector<std::string> list;
    for (const Json& item : value) {
      if (!item.is_string()) return false;
      list.push_back(item.get<std::string>());
    }
    settings.*member = std::move(list);
    return true;
  };
}

bool store_engine_count(Settings& settings, const Json& value) {
  if (value.is_null()) {
    settings.n.reset();
    return true;
  }
  const auto count = read_integer<int>(value);
  if (!count || *count < 0 || *count > max_engines) return false;
  settings.n = *count;
  return true;
}

bool store_environment(Settings& settings, const Json& value) {
  if (!value.is_object()) return false;
  for (const auto& [name, text_value] : value.items()) {
    if (!text_value.is_string()) return false;
    settings.environment[name] = text_value.get<std::string>();
  }
  return true;
}

Store flag(bool Settings::*member) {
  return [member](Settings& settings, const Json& value) {
    if (!value.is_boolean()) return false;
    settings.*member = value.get<bool>();
    return true;
  };
}

bool store_respawn_limit(Settings& settings, const Json& value) {
  const auto count = read_integer<int>(value);
  if (!count || *count < 1 || *count > max_respawn_limit) return false;
  settings.respawn_limit = *count;
  return true;
}

/// Lines of text: a list, or one text.
Store lines(std::vector<std::string> Settings::* member) {
  return [member](Settings& settings, const Json& value) {
    if (value.is_string()) {
      settings.*member = {value.get<std::string>()};
      return true;
    }
    return word_list(member)(settings, value);
  };
}

bool store_hosts(Settings& settings, const Json& value) {
  auto hosts = hosts_from_json(value);
  if (!hosts) return false;
  settings.hosts = std::move(*hosts);
  return true;
}

bool store_batch_names(Settings& settings, const Json& value) {
  if (!value.is_object()) return false;
  for (const auto& [name, text_value] : value.items())
    settings.batch_names[name] =
        text_value.is_string() ? text_value.get<std::string>() : text_value.dump();
  return true;
}

/// A text, or a number of minutes as Slurm has it.
bool store_timelimit(Settings& settings, const Json& value) {
  if (!value.is_string() && !value.is_number_integer()) return false;
  settings.timelimit = value.is_string() ? value.get<std::string>() : value.dump();
  return true;
}

bool store_journal(Settings& settings, const Json& value) {
  if (value != "off" && value != "process" && value != "power") return false;
  settings.journal = value.get<std::string>();
  return true;
}

/// auto, none or a number, also as text.
bool store_gpus(Settings& settings, const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::optional<int> count = read_whole_number(text);
  if (text != "auto" && text != "none" && (!count || *count < 1 || *count > max_gpus)) return false;
  settings.gpus = text;
  return true;
}

/// auto, unchanged or a number, also as text.
bool store_threads(Settings& settings, const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (!program::is_thread_wish(text)) return false;
  settings.threads_per_engine = text;
  return true;
}

constexpr std::string_view a_list = "a list of strings";
constexpr std::string_view some_hosts =
    "hosts as in \"host2:4,host3:2\" or {\"host2\": 4}, names of letters, digits, '-', '.' only";

const std::vector<Key>& keys() {
  using S = Settings;
  static const std::vector<Key> all{
      {"n", "Cluster", "n", "a number from 0 to 65536", store_engine_count},
      {"engines", "Cluster", "engine_launcher_class", "a string", text(&S::engines)},
      {"controller", "Cluster", "controller_launcher_class", "a string", text(&S::controller)},
      {"controller_args", "Cluster", "controller_args", a_list, word_list(&S::controller_args)},
      {"journal", "", "", "off, process or power", store_journal},
      {"engine_args", "Engine", "engine_args", a_list, word_list(&S::engine_args)},
      {"language", "", "", "a string", text(&S::language)},
      {"gpus", "", "", "auto, none or a number of GPUs from 1 to 1024", store_gpus},
      {"threads_per_engine", "", "", "auto, unchanged or a number of threads from 1 to 65536",
       store_threads},
      {"mpi_cmd", "MPI", "mpi_cmd", a_list, word_list(&S::mpi_cmd)},
      {"mpi_args", "MPI", "mpi_args", a_list, word_list(&S::mpi_args)},
      {"controller_cmd", "", "", a_list, word_list(&S::controller_cmd)},
      {"engine_cmd", "Engine", "engine_cmd", a_list, word_list(&S::engine_cmd)},
      {"ip", "Cluster", "controller_ip", "a string", text(&S::ip)},
      {"location", "Cluster", "controller_location", "a string", text(&S::location)},
      {"delay", "Cluster", "delay", "a number of seconds", number_of_seconds(&S::delay)},
      {"engine_timeout", "Cluster", "engine_timeout", "a number of seconds",
       number_of_seconds(&S::engine_timeout)},
      {"environment", "Engine", "environment", "an object of strings", store_environment},
      {"respawn", "", "", "true or false", flag(&S::respawn)},
      {"respawn_limit", "", "", "a number of engines from 1 to 10000", store_respawn_limit},
      {"description", "", "", "a string",
       [](Settings&, const Json& value) { return value.is_string(); }},
      {"hosts", "SSH", "engines", some_hosts, store_hosts},
      {"hostfile", "", "", "a string", text(&S::hostfile)},
      {"engine_env", "", "", "lines of shell", lines(&S::engine_env)},
      {"remote_engine_cmd", "", "", a_list, word_list(&S::remote_engine_cmd)},
      {"remote_python", "SSH", "remote_python", "a string", text(&S::remote_python)},
      {"remote_profile_dir", "SSH", "remote_profile_dir", "a string", text(&S::remote_profile_dir)},
      {"ssh_cmd", "SSH", "ssh_cmd", a_list, word_list(&S::ssh_cmd)},
      {"ssh_args", "SSH", "ssh_args", a_list, word_list(&S::ssh_args)},
      {"tunnel", "", "", "true or false", flag(&S::tunnel)},
      {"queue", "Batch", "queue", "a string", text(&S::queue)},
      {"account", "Batch", "account", "a string", text(&S::account)},
      {"qos", "Batch", "qos", "a string", text(&S::qos)},
      {"timelimit", "Batch", "timelimit", "a string", store_timelimit},
      {"batch_options", "Batch", "options", "a list of strings", lines(&S::batch_options)},
      {"batch_template", "Batch", "batch_template", "a string", text(&S::batch_template)},
      {"batch_template_file", "Batch", "batch_template_file", "a string",
       text(&S::batch_template_file)},
      {"namespace", "Batch", "namespace", "an object", store_batch_names},
      {"submit_command", "Batch", "submit_command", a_list, word_list(&S::submit_command)},
      {"delete_command", "Batch", "delete_command", a_list, word_list(&S::delete_command)},
      {"job_id_regexp", "Batch", "job_id_regexp", "a string", text(&S::job_id_regexp)},
      {"mpi_type", "", "", "a string", text(&S::mpi_type)},
      {"srun_args", "", "", a_list, word_list(&S::srun_args)},
  };
  return all;
}

/// "SlurmEngineSetLauncher" -> "Batch", "Cluster" -> "Cluster"; empty: a class without a meaning
/// here.
std::string_view family_of(std::string_view section) {
  if (section.ends_with("ControllerLauncher")) return "Controller";
  for (const std::string_view end : {"EngineSetLauncher", "EngineLauncher", "Launcher"})
    if (section.ends_with(end)) {
      section.remove_suffix(end.size());
      if (section.empty()) return "Engine";
      break;
    }
  if (section == "Cluster" || section == "SSH") return section;
  if (section == "IPClusterStart" || section == "IPClusterEngines") return "Cluster";
  if (section == "MPI" || section == "MPIExec") return "MPI";
  if (section == "Base" || section == "Local") return "Engine";
  for (const std::string_view batch :
       {"BatchSystem", "Batch", "Slurm", "PBS", "SGE", "LSF", "HTCondor"})
    if (section == batch) return "Batch";
  return "";
}

const Key* find_key(std::string_view name) {
  for (const Key& key : keys())
    if (key.name == name) return &key;
  return nullptr;
}

/// All launchers of engines have engine_args; those of controllers have only what is theirs.
const Key* find_trait(std::string_view family, std::string_view trait) {
  if (family == "Controller") return trait.starts_with("controller_") ? find_key(trait) : nullptr;
  for (const Key& key : keys()) {
    if (key.trait.empty() || key.trait != trait) continue;
    const bool is_of_all = key.family == "Engine" && family != "Cluster";
    if (key.family == family || is_of_all) return &key;
  }
  return nullptr;
}

Error wrong_type(std::string_view source, std::string_view name, const Key& key) {
  return Error{ErrorKind::bad_input, std::string(source) + ": '" + std::string(name) +
                                         "' must be " + std::string(key.type)};
}

/// "; did you mean 'engines'?", or which keys there are.
std::string suggestion(const std::string& name) {
  std::vector<std::string> names;
  for (const Key& key : keys()) names.emplace_back(key.name);
  if (const auto nearest = nearest_name(name, names)) return "; did you mean '" + *nearest + "'?";
  return "; known keys: " + join(names, ", ");
}

}  // namespace

bool names_other_hosts(const Settings& settings) {
  return std::any_of(settings.hosts.begin(), settings.hosts.end(),
                     [](const HostSlots& host) { return !is_loopback_name(host.host); });
}

Result<void> apply_profile(Settings& settings, const Json& profile, std::string_view source) {
  if (!profile.is_object())
    return Error{ErrorKind::bad_input, std::string(source) + " must be a JSON object"};
  for (const auto& [name, value] : profile.items()) {
    const Key* const key = find_key(name);
    if (!key)
      return Error{ErrorKind::bad_input,
                   std::string(source) + ": unknown key '" + name + "'" + suggestion(name)};
    if (!key->store(settings, value)) return wrong_type(source, name, *key);
  }
  return {};
}

std::string_view key_of_trait(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return "";
  const std::string_view family = family_of(name.substr(0, dot));
  const Key* const key = family.empty() ? nullptr : find_trait(family, name.substr(dot + 1));
  return key ? key->name : "";
}

Result<std::vector<std::string>> apply_ipcluster_config(Settings& settings, const Json& config,
                                                        std::string_view source) {
  std::vector<std::string> ignored;
  if (!config.is_object())
    return Error{ErrorKind::bad_input, std::string(source) + " must be a JSON object"};
  for (const auto& [section, traits] : config.items()) {
    if (section == "version") continue;
    const std::string_view family = family_of(section);
    if (family.empty() || !traits.is_object()) {
      ignored.push_back(section);
      continue;
    }
    for (const auto& [trait, value] : traits.items()) {
      const Key* const key = find_trait(family, trait);
      if (!key)
        ignored.push_back(section + "." + trait);
      else if (!key->store(settings, value))
        return wrong_type(source, section + "." + trait, *key);
    }
  }
  return ignored;
}

Result<void> apply_settings_text(Settings& settings, std::string_view text) {
  if (text.empty()) return {};
  const auto all = unpack(Packer::json, text);
  if (!all)
    return Error{ErrorKind::bad_input, "--settings is not a JSON object: '" + std::string(text) +
                                           "'; write {\"engines\": \"mpi\"} for --engines=mpi"};
  Json profile = Json::object(), classes = Json::object();
  for (const auto& [name, value] : all->items())
    (std::isupper(static_cast<unsigned char>(name[0])) ? classes : profile)[name] = value;
  const auto unknown = apply_ipcluster_config(settings, classes, "--settings");
  if (!unknown) return unknown.error();
  if (!unknown->empty())
    return Error{ErrorKind::unsupported, "pxcluster has nothing like " + unknown->front() +
                                             ": leave it out, or use ipyparallel's Cluster with "
                                             "controller='polyxeus', engines='polyxeus'"};
  return apply_profile(settings, profile, "--settings");
}

}  // namespace px::cluster
