#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <set>

#include "client/requests/way.hpp"
#include "wire/time.hpp"

namespace px::client {

/// The connections of a client to its controller, beside that of its questions.
enum class LinkKind { direct, balanced, broadcast, control, news, output };

/// What is to be made up for, as connections broke and stand again.
struct Breaks {
  std::set<Way> ways;  ///< What took them may be lost.
  bool of_output = false;
  bool of_news = false;
  bool any() const { return !ways.empty() || of_output || of_news; }
  /// The ways by which requests are to be sent again.
  std::set<Way> to_repeat() const;
};

/// Knows which connections to the controller broke, and which of them stand again. Sees no socket
/// and no clock.
class BrokenLinks {
 public:
  void disconnected(LinkKind link);
  /// Whether it had broken before.
  bool connected(LinkKind link);
  /// The connection of questions broke and stands again.
  void questions_connected() { breaks_.ways.insert(Way::hub); }
  /// Another controller is there: all that is not answered is sent to it, and waits in the
  /// connections that do not stand yet. The news that come until theirs stands are lost.
  void controller_changed();

  /// Whether news and output have been heard at some time.
  bool are_subscribed() const { return at(LinkKind::news).was_up && at(LinkKind::output).was_up; }
  /// Of those that stand again; they count as made up for.
  Breaks take();

 private:
  struct Link {
    bool was_up = false;
    bool is_broken = false;
  };
  Link& at(LinkKind link) { return links_[static_cast<std::size_t>(link)]; }
  const Link& at(LinkKind link) const { return links_[static_cast<std::size_t>(link)]; }

  std::array<Link, 6> links_;
  Breaks breaks_;
};

/// A new controller knows again all engines of the one before that still live, after a while: until
/// then it says nothing that one is missing. Sees no clock.
class ReturningEngines {
 public:
  static constexpr Duration patience = std::chrono::seconds(10);

  /// Another controller has the place of the one that was known.
  void expect(Instant now) { until_ = now + patience; }
  bool are_expected(Instant now) const { return now < until_; }

 private:
  Instant until_{};
};

}  // namespace px::client
