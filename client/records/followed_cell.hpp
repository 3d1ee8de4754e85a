#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/core.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::client {

/// A request that any client has sent, and its engine; no_engine (client/records/jobs.hpp) if the
/// engine is not known.
struct KnownRequest {
  MessageId id;
  EngineId engine;
};

/// Finds the requests of a session with a label: in the controller's records, and on the engines,
/// which keep the output of their latest labelled cells even if the controller has lost its
/// records. The result has first the requests in the records, in the order of the records, and then
/// the requests that only the engines have.
/// label     null: any; then only the records are searched.
/// session   a client's session id, or its beginning; empty: any.
/// patience  how long to wait for engines.
/// errors    those of ClientCore::ask_hub(). A controller that keeps no records causes no error.
std::vector<KnownRequest> find_requests(const std::shared_ptr<ClientCore>& core, const Json& label,
                                        const std::string& session, Duration patience);

/// Returns the answers to such requests, and their output as it arrives: the client asks the
/// engines for new output at intervals of 20 to 200 ms. The controller's records are used for
/// engines that do not keep the output, or have ended. Returns at once; the Call is ready when all
/// answers have arrived. A request that is unknown to the engines and the controller fails with
/// "KeyError".
std::shared_ptr<Call> follow_requests(const std::shared_ptr<ClientCore>& core,
                                      const std::vector<KnownRequest>& requests);

/// Decides which output of a request has not been shown yet: an engine numbers the publications
/// that it reports, and the controller's record has each stream as one text. Uses no socket or
/// clock.
class FollowedOutput {
 public:
  /// The number of the next publication to ask for.
  std::size_t next() const { return next_; }
  /// Takes the `output` of a usage_reply of an engine.
  /// result  the publications to show. If publications are missing, a publication on stderr gives
  ///         their number.
  std::vector<Publication> take(const Json& output);
  /// Returns the part of a record's publications that no engine has reported.
  std::vector<Publication> rest(std::vector<Publication> recorded) const;

 private:
  std::size_t next_ = 0;
  std::size_t out_bytes_ = 0, err_bytes_ = 0;  // of stdout and stderr
  std::vector<std::string> types_;             // of the other publications
};

}  // namespace px::client
