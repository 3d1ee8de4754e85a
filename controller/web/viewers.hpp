#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wire/time.hpp"

namespace px::controller {

/// A text that is sent to viewers: one for all of them, never copied.
using SharedText = std::shared_ptr<const std::string>;

/// The limits of viewers.
struct ViewerBounds {
  std::size_t most = 64;  ///< At a time.
  /// A viewer that takes no whole text for this time is dropped.
  Duration patience = std::chrono::seconds(15);
};

/// Decides which viewer of the page gets which text, and which is dropped. A viewer has at most one
/// text in transit and the newest one waiting: one that reads slowly misses texts, and one that
/// does not read uses, until it is dropped, only two texts, which are shared with others. Uses no
/// socket and no clock. Called on the web thread.
class Viewers {
 public:
  struct Sending {
    int viewer;
    SharedText text;
  };

  explicit Viewers(const ViewerBounds& bounds) : bounds_(bounds) {}

  bool is_empty() const { return viewers_.empty(); }
  /// A viewer has connected, and is being sent its header; written() continues with `first`, or a
  /// newer text. Nothing if there are too many.
  /// first  the newest text; null: there is none yet.
  std::optional<int> add(SharedText first, Instant now);
  void remove(int viewer) { viewers_.erase(viewer); }
  /// There is a new text: returns what to send to which viewers now.
  std::vector<Sending> publish(const SharedText& text, Instant now);
  /// The text in transit to the viewer was written: returns the next one to send to it, if any.
  /// Nothing for a dropped viewer.
  SharedText written(int viewer, Instant now);
  /// Forgets and returns the viewers that have taken nothing for the whole patience.
  std::vector<int> expire(Instant now);

 private:
  struct Viewer {
    std::optional<Instant> sending_since;  // nothing: no text is in transit
    SharedText waiting;
  };
  ViewerBounds bounds_;
  int next_ = 0;
  std::map<int, Viewer> viewers_;
};

}  // namespace px::controller
