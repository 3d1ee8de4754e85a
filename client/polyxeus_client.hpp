#pragma once

// The C++ client library under its public names, in namespace px; installed as
// <polyxeus/client.hpp>. Programs need to include only this header. Names that are not listed here
// may change.
//
//   const px::Client client = px::Client::connect();
//   client.all().execute("print('hello')").wait_for_output();
//   client.all()["x"] = std::vector<double>{1, 2, 3};   // a variable on each engine
//
// Client connects; DirectView, BroadcastView and LoadBalancedView run code and move data;
// AsyncResult waits for answers. Errors are thrown as ClientError, or as one of its subclasses.

#include <px_version.hpp>

#include "client/async_result.hpp"
#include "client/balanced_view.hpp"
#include "client/block.hpp"
#include "client/client.hpp"
#include "client/connection/engine_change.hpp"
#include "client/connection/silence.hpp"
#include "client/direct_view.hpp"
#include "client/error.hpp"
#include "client/map_stream.hpp"
#include "client/requests/function.hpp"
#include "client/requests/task_info.hpp"
#include "client/targets.hpp"
#include "wire/array.hpp"
#include "wire/error.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/time.hpp"
#include "wire/value.hpp"

/// @namespace px::client
/// The C++ client library: connections, views, results. The public names are also available in the
/// namespace `px`.

/// Values, arrays and errors, and the public names of the client library.
namespace px {

// Connecting: the address of the cluster, and changes of its engines.
using client::Client;
using client::ClientOptions;
using client::EngineChange;
using client::SshOptions;

// Views: on which engines work runs.
using client::BalancedOptions;
using client::BroadcastView;
using client::Dependency;
using client::DirectView;
using client::LoadBalancedView;
using client::MapOptions;
using client::Ranks;
using client::SendOptions;
using client::Targets;

// The data that is sent. Value, AnyArray, SharedBytes, Reference and Json are already names of px.
using client::Arguments;
using client::Function;
using client::NamedValues;

// Results: waiting for answers, and reading them.
using client::as;
using client::AsyncResult;
using client::Block;
using client::CallEvent;
using client::describe_kind;
using client::MapStream;
using client::Publication;
using client::Reply;
using client::Silence;
using client::TaskInfo;
using client::TaskSent;
using client::TaskStatus;
using client::Timeout;

// Errors. ErrorKind, Error and Result are already names of px.
using client::ClientError;
using client::CompositeError;
using client::Failure;
using client::RemoteError;
using client::TimeoutError;

}  // namespace px
