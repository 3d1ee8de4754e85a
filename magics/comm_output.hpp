#pragma once

#include "client/connection/comm_relay.hpp"

namespace px::magics {

/// What an engine printed or showed while it served a message of a widget, with its label: text
/// begins with "[stdout:0] ", a display has its engine in its metadata and an id of its own. All
/// else stays as it is. Pure.
client::CommNews labelled(client::CommNews news);

}  // namespace px::magics
