#include <px/cluster/settings.hpp>

#include <array>
#include <functional>

#include <px/cluster/process.hpp>

namespace px {
namespace {

/// Stores a JSON value in the settings; false: it has the wrong type.
using Store = std::function<bool(Settings&, const Json&)>;

struct Key {
  std::string_view name;   ///< In our profiles.
  std::string_view trait;  ///< In the `Cluster` section of an ipcluster_config.json, or empty.
  std::string_view type;   ///< For the error.
  Store store;
};

Store text(std::string Settings::*member) {
  return [member](Settings& settings, const Json& value) {
    if (!value.is_string()) return false;
    settings.*member = value.get<std::string>();
    return true;
  };
}

Store seconds(double Settings::*member) {
  return [member](Settings& settings, const Json& value) {
    if (!value.is_number() || value.get<double>() < 0) return false;
    settings.*member = value.get<double>();
    return true;
  };
}

/// A list of strings, or one string that is cut into words.
Store words(std::vector<std::string> Settings::*member) {
  return [member](Settings& settings, const Json& value) {
    if (value.is_string()) {
      settings.*member = split_words(value.get<std::string>());
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
  if (!value.is_number_integer()) return false;
  const auto count = value.get<long long>();
  if (count < 0 || count > max_engines) return false;
  settings.n = static_cast<int>(count);
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

const std::array<Key, 16>& keys() {
  static const std::array<Key, 16> all{{
      {"n", "n", "a number from 0 to 65536", store_engine_count},
      {"engines", "engine_launcher_class", "a string", text(&Settings::engines)},
      {"controller", "controller_launcher_class", "a string", text(&Settings::controller)},
      {"controller_args", "controller_args", "a list of strings",
       words(&Settings::controller_args)},
      {"engine_args", "", "a list of strings", words(&Settings::engine_args)},
      {"language", "", "a string", text(&Settings::language)},
      {"mpi_cmd", "", "a list of strings", words(&Settings::mpi_cmd)},
      {"mpi_args", "", "a list of strings", words(&Settings::mpi_args)},
      {"controller_cmd", "", "a list of strings", words(&Settings::controller_cmd)},
      {"engine_cmd", "", "a list of strings", words(&Settings::engine_cmd)},
      {"ip", "controller_ip", "a string", text(&Settings::ip)},
      {"location", "controller_location", "a string", text(&Settings::location)},
      {"delay", "delay", "a number of seconds", seconds(&Settings::delay)},
      {"engine_timeout", "engine_timeout", "a number of seconds",
       seconds(&Settings::engine_timeout)},
      {"environment", "", "an object of strings", store_environment},
      {"description", "", "a string",
       [](Settings&, const Json& value) { return value.is_string(); }},
  }};
  return all;
}

Error wrong_type(std::string_view source, std::string_view name, const Key& key) {
  return Error{ErrorKind::bad_input, std::string(source) + ": '" + std::string(name) +
                                         "' must be " + std::string(key.type)};
}

std::string known_names() {
  std::string names;
  for (const Key& key : keys()) names += (names.empty() ? "" : ", ") + std::string(key.name);
  return names;
}

const Key* find_key(std::string_view name, std::string_view Key::*spelling) {
  for (const Key& key : keys())
    if (!name.empty() && key.*spelling == name) return &key;
  return nullptr;
}

}  // namespace

Result<void> apply_profile(Settings& settings, const Json& profile, std::string_view source) {
  if (!profile.is_object())
    return Error{ErrorKind::bad_input, std::string(source) + " must be one JSON object"};
  for (const auto& [name, value] : profile.items()) {
    const Key* const key = find_key(name, &Key::name);
    if (!key)
      return Error{ErrorKind::bad_input, std::string(source) + ": nobody knows the key '" + name +
                                             "'; there are " + known_names()};
    if (!key->store(settings, value)) return wrong_type(source, name, *key);
  }
  return {};
}

Result<std::vector<std::string>> apply_ipcluster_config(Settings& settings, const Json& config,
                                                        std::string_view source) {
  std::vector<std::string> ignored;
  if (!config.is_object())
    return Error{ErrorKind::bad_input, std::string(source) + " must be one JSON object"};
  for (const auto& [section, traits] : config.items()) {
    if (section == "version") continue;
    if (section != "Cluster" || !traits.is_object()) {
      ignored.push_back(section);
      continue;
    }
    for (const auto& [trait, value] : traits.items()) {
      const Key* const key = find_key(trait, &Key::trait);
      if (!key)
        ignored.push_back(section + "." + trait);
      else if (!key->store(settings, value))
        return wrong_type(source, section + "." + trait, *key);
    }
  }
  return ignored;
}

}  // namespace px
