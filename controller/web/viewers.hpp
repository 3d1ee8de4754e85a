#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wire/time.hpp"

namespace px::controller {

/// What is sent to viewers: one text for all of them, never copied.
using SharedText = std::shared_ptr<const std::string>;

/// How much viewers may cost.
struct ViewerBounds {
  std::size_t most = 64;  ///< At a time.
  /// A viewer that takes no whole text for so long is dropped.
  Duration patience = std::chrono::seconds(15);
};

/// Decides which viewer of the page gets which text, and which is dropped. A viewer has at most one
/// text on its way and the newest one waiting: one that reads slowly misses texts, and one that
/// does not read costs two texts that others have, too, until it is dropped. Sees no socket and no
/// clock. Called on the web thread.
class Viewers {
 public:
  struct Sending {
    int viewer;
    SharedText text;
  };

  explicit Viewers(const ViewerBounds& bounds) : bounds_(bounds) {}

  bool is_empty() const { return viewers_.empty(); }
  /// A viewer has come, and is written to now (its header); written() goes on with `first`, or
  /// what is newer by then. Nothing where there are too many.
  /// first  the newest text; null: there is none yet.
  std::optional<int> add(SharedText first, Instant now);
  void remove(int viewer) { viewers_.erase(viewer); }
  /// There is a new text: what to send to whom now.
  std::vector<Sending> publish(const SharedText& text, Instant now);
  /// What was on its way to the viewer was written: what to send to it now, if anything. Nothing
  /// for one that was dropped.
  SharedText written(int viewer, Instant now);
  /// Forgets and returns those that have taken nothing for the whole patience.
  std::vector<int> expire(Instant now);

 private:
  struct Viewer {
    std::optional<Instant> sending_since;  // nothing: nothing is on its way
    SharedText waiting;
  };
  ViewerBounds bounds_;
  int next_ = 0;
  std::map<int, Viewer> viewers_;
};

}  // namespace px::controller
