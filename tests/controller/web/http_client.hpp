#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <string_view>

#include "os/descriptor.hpp"

namespace px::controller {

/// What a server has answered.
struct HttpAnswer {
  int status = 0;
  std::string head, body;
  bool says(std::string_view text) const { return head.find(text) != std::string::npos; }
};

/// One connection of a browser to 127.0.0.1.
class HttpClient {
 public:
  /// receive_bytes  how much the kernel keeps of what is not read; 0: as it likes.
  explicit HttpClient(int port, int receive_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0)
      ::setsockopt(socket_.value(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(
        ::connect(socket_.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  void send(std::string_view text) {
    EXPECT_EQ(::send(socket_.value(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  /// headers  each with its line's end.
  void request(std::string_view line, std::string_view headers = "", std::string_view body = "") {
    std::string text =
        std::string(line) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + std::string(headers);
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    send(text + "\r\n" + std::string(body));
  }
  HttpAnswer ask(std::string_view line, std::string_view headers = "", std::string_view body = "") {
    request(line, headers, body);
    return read_answer();
  }
  HttpAnswer read_answer() {
    HttpAnswer answer;
    answer.head = read_to("\r\n\r\n");
    if (answer.head.size() > 12) answer.status = std::stoi(answer.head.substr(9, 3));
    const std::size_t found = answer.head.find("Content-Length: ");
    if (found == std::string::npos) return answer;
    const std::size_t length = std::stoul(answer.head.substr(found + 16));
    while (unread_.size() < length && receive()) continue;
    answer.body = unread_.substr(0, length);
    unread_.erase(0, length);
    return answer;
  }
  /// The next chunk of an answer that comes in chunks.
  std::string read_chunk() {
    const std::string size = read_to("\r\n");
    const std::size_t length = size.empty() ? 0 : std::stoul(size, nullptr, 16);
    while (unread_.size() < length + 2 && receive()) continue;
    std::string chunk = unread_.substr(0, length);
    unread_.erase(0, length + 2);
    return chunk;
  }
  /// Up to this text, and with it; all that came where the server has ended the connection before.
  std::string read_to(std::string_view mark) {
    while (unread_.find(mark) == std::string::npos && receive()) continue;
    const std::size_t found = unread_.find(mark);
    const std::size_t end = found == std::string::npos ? unread_.size() : found + mark.size();
    std::string text = unread_.substr(0, end);
    unread_.erase(0, end);
    return text;
  }
  /// The server has ended the connection; what it has said before is dropped.
  bool is_ended() {
    while (receive()) unread_.clear();
    return true;
  }

 private:
  bool receive() {
    pollfd one{socket_.value(), POLLIN, 0};
    if (::poll(&one, 1, 20'000) != 1) {
      ADD_FAILURE() << "nothing came";
      return false;
    }
    std::array<char, 65536> bytes{};
    const ssize_t count = ::recv(socket_.value(), bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }
  os::Descriptor socket_;
  std::string unread_;
};

}  // namespace px::controller
