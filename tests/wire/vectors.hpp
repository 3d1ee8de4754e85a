#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "wire/frames.hpp"

namespace px {

/// The captured messages of vectors/messages.txt, whose first lines say how it is written.
struct Vectors {
  std::string key;
  std::map<std::string, TextFrames> messages;
};

inline std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

inline std::string frame_of_line(const std::string& kind, const std::string& rest) {
  if (kind == "text") return rest;
  if (kind == "hex") return bytes_of_hex(rest);
  if (kind == "zeros") return std::string(std::stoul(rest), '\0');
  if (kind == "empty") return {};
  throw std::runtime_error("vectors/messages.txt has the unknown line kind '" + kind + "'");
}

inline Vectors read_vectors() {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "vectors" / "messages.txt");
  if (!file) throw std::runtime_error("vectors/messages.txt is missing");
  Vectors vectors;
  std::map<std::string, std::vector<std::string>> frames;
  std::string line, name;
  while (std::getline(file, line)) {
    if (line.empty() || line.front() == '#') continue;
    const auto space = std::min(line.find(' '), line.size());
    const std::string kind = line.substr(0, space);
    const std::string rest = line.substr(std::min(space + 1, line.size()));
    if (kind == "key")
      vectors.key = rest;
    else if (kind == "message")
      name = rest;
    else
      frames[name].push_back(frame_of_line(kind, rest));
  }
  for (auto& [message, list] : frames) vectors.messages[message] = TextFrames(std::move(list));
  return vectors;
}

}  // namespace px
