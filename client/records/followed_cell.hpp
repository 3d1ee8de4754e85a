#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/core.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::client {

/// A request that any client has sent, and its engine. The value of `engine` is no_engine
/// (client/records/jobs.hpp) if the engine is not known.
struct KnownRequest {
  MessageId id;
  EngineId engine;
};

/// Finds the requests of a session that have a label. The function searches the controller's
/// records and asks the engines, because each engine keeps the output of its latest labelled cells
/// even if the controller has lost its records. The result begins with the requests in the records,
/// in the order of the records. After these come the requests that only engines have.
/// label     the label; if it is null, requests with any label are found, but only in the records.
/// session   a client's session id, or the beginning of the id; if it is empty, requests of all
///           sessions are found.
/// patience  how long to wait for engines.
/// errors    those of ClientCore::ask_hub(). A controller that keeps no records causes no error.
std::vector<KnownRequest> find_requests(const std::shared_ptr<ClientCore>& core, const Json& label,
                                        const std::string& session, Duration patience);

/// Fetches the answers to these requests, and their output as it arrives: the client asks the
/// engines for new output at intervals of 20 to 200 ms. If an engine has ended or does not keep the
/// output, the client uses the controller's records. The function returns at once; the Call is
/// ready when all answers have arrived. A request that is unknown to the engines and the controller
/// fails with "KeyError".
std::shared_ptr<Call> follow_requests(const std::shared_ptr<ClientCore>& core,
                                      const std::vector<KnownRequest>& requests);

/// Decides which output of a request has not been shown yet. Engines number the publications that
/// they report; the controller's record of the request has all text of stdout, and all text of
/// stderr, as one text each. This class uses no socket or clock.
class FollowedOutput {
 public:
  /// The number of the next publication to ask for.
  std::size_t next() const { return next_; }
  /// Reads the `output` of an engine's usage_reply.
  /// result  the publications to show. If publications are missing, a publication on stderr gives
  ///         their number.
  std::vector<Publication> take(const Json& output);
  /// Returns the part of a record's publications that has not been shown, because no engine has
  /// reported it.
  std::vector<Publication> rest(std::vector<Publication> recorded) const;

 private:
  std::size_t next_ = 0;
  std::size_t out_bytes_ = 0, err_bytes_ = 0;  // of stdout and stderr
  std::vector<std::string> types_;             // of the other publications
};

}  // namespace px::client
