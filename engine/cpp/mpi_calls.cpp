// The MPI functions that can wait for other ranks, for the code of cells and for the libraries that
// they load: those of MpiSteps in front of the MPI library's own, which MPI keeps under PMPI_ names
// for this purpose. The program exports them, and what is loaded finds them first.

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "engine/cpp/mpi_steps.hpp"
#include "engine/mpi/call_place.hpp"

namespace px::engine {
namespace {

/// What a call tells to other threads. The number of its communicator is left out: to ask for it
/// out of a collective call could number communicators in another order than on the other ranks.
MpiCall about(const char* name, MPI_Comm communicator, int peer = MPI_PROC_NULL,
              int tag = MpiCall::none) {
  MpiCall call{.name = name, .began = Clock::now()};
  if (communicator != MPI_COMM_NULL) PMPI_Comm_size(communicator, &call.size);
  if (peer != MPI_PROC_NULL) call.peer = peer == MPI_ANY_SOURCE ? MpiCall::any : peer;
  if (tag != MpiCall::none) call.tag = tag == MPI_ANY_TAG ? MpiCall::any : tag;
  return call;
}

MpiCall about_collective(MpiSteps& steps, const char* name, MPI_Comm communicator) {
  MpiCall call = about(name, communicator);
  call.communicator = steps.number_of(communicator);
  return call;
}

template <typename Operation>
int collective(const char* name, MPI_Comm communicator, const Operation& operation) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps) return operation();
  const InMpiCall here{*px_call_place(), about_collective(*steps, name, communicator)};
  const bool leaves = steps->arrive(name, communicator);
  const int code = operation();
  if (leaves) steps->leave(name);
  return code;
}

/// A collective call that makes a communicator.
template <typename Operation>
int maker(const char* name, MPI_Comm communicator, const MPI_Comm* result,
          const Operation& operation) {
  const int code = collective(name, communicator, operation);
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (steps && code == MPI_SUCCESS) steps->made(*result);
  return code;
}

int wait_for(MpiSteps& steps, MPI_Request* request, MPI_Status* status, bool& is_done) {
  int code = MPI_SUCCESS, done = 0;
  is_done = steps.wait([&] {
    code = PMPI_Test(request, &done, status);
    return done != 0 || code != MPI_SUCCESS;
  });
  return code;
}

int receive(const char* name, MPI_Request request, MPI_Status* status, MpiSteps& steps) {
  bool is_done = false;
  const int code = wait_for(steps, &request, status, is_done);
  if (is_done) return code;
  PMPI_Cancel(&request);
  PMPI_Wait(&request, status);
  steps.leave(name);
  return MPI_SUCCESS;
}

struct Destination {
  int count;
  MPI_Datatype type;
  int rank, tag;
  MPI_Comm communicator;
};

int send(const char* name, const Destination& to, MPI_Request request, MpiSteps& steps) {
  bool is_done = false;
  const int code = wait_for(steps, &request, MPI_STATUS_IGNORE, is_done);
  if (is_done) return code;
  int size = 0;
  PMPI_Type_size(to.type, &size);
  steps.leave_sending(name, to.communicator, to.rank, to.tag, std::int64_t{size} * to.count,
                      request);
  return MPI_SUCCESS;
}

using Send = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using BegunSend = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

int send_with(const char* name, Send plain, BegunSend begin, const void* data,
              const Destination& to) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps) return plain(data, to.count, to.type, to.rank, to.tag, to.communicator);
  const InMpiCall here{*px_call_place(), about(name, to.communicator, to.rank, to.tag)};
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = begin(data, to.count, to.type, to.rank, to.tag, to.communicator, &request);
  return code == MPI_SUCCESS ? send(name, to, request, *steps) : code;
}

/// Calls `test` until it sets its argument, or the cell is left; where calls are plain, `plain`.
template <typename Plain, typename Test>
int answering(const MpiCall& call, const Plain& plain, const Test& test) {
  MpiSteps* const steps = MpiSteps::of_this_thread();
  if (!steps) return plain();
  const InMpiCall here{*px_call_place(), call};
  int code = MPI_SUCCESS, done = 0;
  const bool is_done = steps->wait([&] {
    code = test(&done);
    return done != 0 || code != MPI_SUCCESS;
  });
  if (!is_done) steps->leave(call.name);
  return code;
}

}  // namespace
}  // namespace px::engine

#define PX_COLLECTIVE(name, communicator, parameters, arguments)          \
  int MPI_##name parameters {                                             \
    return px::engine::collective("MPI_" #name, communicator,             \
                                  [&] { return PMPI_##name arguments; }); \
  }
#define PX_MAKER(name, communicator, result, parameters, arguments)  \
  int MPI_##name parameters {                                        \
    return px::engine::maker("MPI_" #name, communicator, result,     \
                             [&] { return PMPI_##name arguments; }); \
  }
#define PX_SEND(name, begun)                                                        \
  int MPI_##name(const void* data, int count, MPI_Datatype type, int rank, int tag, \
                 MPI_Comm communicator) {                                           \
    return px::engine::send_with("MPI_" #name, PMPI_##name, PMPI_##begun, data,     \
                                 {count, type, rank, tag, communicator});           \
  }

extern "C" {

px::engine::CallPlace* px_call_place() {
  static px::engine::CallPlace place;
  return &place;
}

// ---------------------------------------------------------------- one to one

PX_SEND(Send, Isend)
PX_SEND(Ssend, Issend)
PX_SEND(Rsend, Irsend)

int MPI_Recv(void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm communicator,
             MPI_Status* status) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_this_thread();
  if (!steps) return PMPI_Recv(data, count, type, rank, tag, communicator, status);
  const px::engine::InMpiCall here{*px_call_place(),
                                   px::engine::about("MPI_Recv", communicator, rank, tag)};
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Irecv(data, count, type, rank, tag, communicator, &request);
  return code == MPI_SUCCESS ? px::engine::receive("MPI_Recv", request, status, *steps) : code;
}

int MPI_Mrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_this_thread();
  if (!steps) return PMPI_Mrecv(data, count, type, message, status);
  const px::engine::InMpiCall here{*px_call_place(), px::engine::about("MPI_Mrecv", MPI_COMM_NULL)};
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Imrecv(data, count, type, message, &request);
  return code == MPI_SUCCESS ? px::engine::receive("MPI_Mrecv", request, status, *steps) : code;
}

int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received,
                 int received_count, MPI_Datatype received_type, int from, int received_tag,
                 MPI_Comm communicator, MPI_Status* status) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_this_thread();
  if (!steps)
    return PMPI_Sendrecv(data, count, type, to, tag, received, received_count, received_type, from,
                         received_tag, communicator, status);
  const px::engine::InMpiCall here{*px_call_place(),
                                   px::engine::about("MPI_Sendrecv", communicator, from)};
  MPI_Request receiving = MPI_REQUEST_NULL, sending = MPI_REQUEST_NULL;
  int code = PMPI_Irecv(received, received_count, received_type, from, received_tag, communicator,
                        &receiving);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Isend(data, count, type, to, tag, communicator, &sending);
  bool has_received = false;
  if (code == MPI_SUCCESS) code = px::engine::wait_for(*steps, &receiving, status, has_received);
  if (!has_received) {
    PMPI_Cancel(&receiving);
    PMPI_Wait(&receiving, status);
  }
  if (code != MPI_SUCCESS) return code;
  return px::engine::send("MPI_Sendrecv", {count, type, to, tag, communicator}, sending, *steps);
}

int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int tag, int from,
                         int received_tag, MPI_Comm communicator, MPI_Status* status) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_this_thread();
  int size = 0, place = 0;
  if (!steps || PMPI_Pack_size(count, type, communicator, &size) != MPI_SUCCESS)
    return PMPI_Sendrecv_replace(data, count, type, to, tag, from, received_tag, communicator,
                                 status);
  std::vector<char> packed(static_cast<std::size_t>(size));
  PMPI_Pack(data, count, type, packed.data(), size, &place, communicator);
  return MPI_Sendrecv(packed.data(), place, MPI_PACKED, to, tag, data, count, type, from,
                      received_tag, communicator, status);
}

int MPI_Probe(int rank, int tag, MPI_Comm communicator, MPI_Status* status) {
  return px::engine::answering(
      px::engine::about("MPI_Probe", communicator, rank, tag),
      [&] { return PMPI_Probe(rank, tag, communicator, status); },
      [&](int* done) { return PMPI_Iprobe(rank, tag, communicator, done, status); });
}

int MPI_Mprobe(int rank, int tag, MPI_Comm communicator, MPI_Message* message, MPI_Status* status) {
  return px::engine::answering(
      px::engine::about("MPI_Mprobe", communicator, rank, tag),
      [&] { return PMPI_Mprobe(rank, tag, communicator, message, status); },
      [&](int* done) { return PMPI_Improbe(rank, tag, communicator, done, message, status); });
}

// ---------------------------------------------------------------- waiting for what has begun

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return px::engine::answering(
      px::engine::about("MPI_Wait", MPI_COMM_NULL), [&] { return PMPI_Wait(request, status); },
      [&](int* done) { return PMPI_Test(request, done, status); });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return px::engine::answering(
      px::engine::about("MPI_Waitall", MPI_COMM_NULL),
      [&] { return PMPI_Waitall(count, requests, statuses); },
      [&](int* done) { return PMPI_Testall(count, requests, done, statuses); });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return px::engine::answering(
      px::engine::about("MPI_Waitany", MPI_COMM_NULL),
      [&] { return PMPI_Waitany(count, requests, index, status); },
      [&](int* done) { return PMPI_Testany(count, requests, index, done, status); });
}

int MPI_Waitsome(int count, MPI_Request* requests, int* number, int* indices,
                 MPI_Status* statuses) {
  return px::engine::answering(
      px::engine::about("MPI_Waitsome", MPI_COMM_NULL),
      [&] { return PMPI_Waitsome(count, requests, number, indices, statuses); },
      [&](int* done) {
        const int code = PMPI_Testsome(count, requests, number, indices, statuses);
        *done = *number != 0;  // MPI_UNDEFINED where nothing is under way
        return code;
      });
}

// ---------------------------------------------------------------- all to all

int MPI_Barrier(MPI_Comm communicator) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_this_thread();
  if (!steps || !steps->holds_roll_calls_on(communicator)) return PMPI_Barrier(communicator);
  const px::engine::InMpiCall here{
      *px_call_place(), px::engine::about_collective(*steps, "MPI_Barrier", communicator)};
  if (steps->arrive("MPI_Barrier", communicator)) steps->leave("MPI_Barrier");
  return MPI_SUCCESS;
}

PX_COLLECTIVE(Bcast, comm, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
              (data, count, type, root, comm))
PX_COLLECTIVE(Reduce, comm,
              (const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm),
              (data, result, count, type, op, root, comm))
PX_COLLECTIVE(Allreduce, comm,
              (const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm),
              (data, result, count, type, op, comm))
PX_COLLECTIVE(Reduce_scatter, comm,
              (const void* data, void* result, const int counts[], MPI_Datatype type, MPI_Op op,
               MPI_Comm comm),
              (data, result, counts, type, op, comm))
PX_COLLECTIVE(Reduce_scatter_block, comm,
              (const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm),
              (data, result, count, type, op, comm))
PX_COLLECTIVE(Scan, comm,
              (const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm),
              (data, result, count, type, op, comm))
PX_COLLECTIVE(Exscan, comm,
              (const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm),
              (data, result, count, type, op, comm))
PX_COLLECTIVE(Gather, comm,
              (const void* data, int count, MPI_Datatype type, void* result, int result_count,
               MPI_Datatype result_type, int root, MPI_Comm comm),
              (data, count, type, result, result_count, result_type, root, comm))
PX_COLLECTIVE(Gatherv, comm,
              (const void* data, int count, MPI_Datatype type, void* result, const int counts[],
               const int places[], MPI_Datatype result_type, int root, MPI_Comm comm),
              (data, count, type, result, counts, places, result_type, root, comm))
PX_COLLECTIVE(Allgather, comm,
              (const void* data, int count, MPI_Datatype type, void* result, int result_count,
               MPI_Datatype result_type, MPI_Comm comm),
              (data, count, type, result, result_count, result_type, comm))
PX_COLLECTIVE(Allgatherv, comm,
              (const void* data, int count, MPI_Datatype type, void* result, const int counts[],
               const int places[], MPI_Datatype result_type, MPI_Comm comm),
              (data, count, type, result, counts, places, result_type, comm))
PX_COLLECTIVE(Scatter, comm,
              (const void* data, int count, MPI_Datatype type, void* result, int result_count,
               MPI_Datatype result_type, int root, MPI_Comm comm),
              (data, count, type, result, result_count, result_type, root, comm))
PX_COLLECTIVE(Scatterv, comm,
              (const void* data, const int counts[], const int places[], MPI_Datatype type,
               void* result, int result_count, MPI_Datatype result_type, int root, MPI_Comm comm),
              (data, counts, places, type, result, result_count, result_type, root, comm))
PX_COLLECTIVE(Alltoall, comm,
              (const void* data, int count, MPI_Datatype type, void* result, int result_count,
               MPI_Datatype result_type, MPI_Comm comm),
              (data, count, type, result, result_count, result_type, comm))
PX_COLLECTIVE(Alltoallv, comm,
              (const void* data, const int counts[], const int places[], MPI_Datatype type,
               void* result, const int result_counts[], const int result_places[],
               MPI_Datatype result_type, MPI_Comm comm),
              (data, counts, places, type, result, result_counts, result_places, result_type, comm))
PX_COLLECTIVE(Alltoallw, comm,
              (const void* data, const int counts[], const int places[], const MPI_Datatype types[],
               void* result, const int result_counts[], const int result_places[],
               const MPI_Datatype result_types[], MPI_Comm comm),
              (data, counts, places, types, result, result_counts, result_places, result_types,
               comm))
PX_COLLECTIVE(File_open, comm,
              (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
              (comm, name, mode, info, file))

// ---------------------------------------------------------------- more communicators

PX_MAKER(Comm_dup, comm, result, (MPI_Comm comm, MPI_Comm* result), (comm, result))
PX_MAKER(Comm_split, comm, result, (MPI_Comm comm, int color, int key, MPI_Comm* result),
         (comm, color, key, result))
PX_MAKER(Comm_split_type, comm, result,
         (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* result),
         (comm, type, key, info, result))
PX_MAKER(Comm_create, comm, result, (MPI_Comm comm, MPI_Group group, MPI_Comm* result),
         (comm, group, result))
PX_MAKER(Cart_create, comm, result,
         (MPI_Comm comm, int count, const int sizes[], const int periods[], int reorder,
          MPI_Comm* result),
         (comm, count, sizes, periods, reorder, result))
PX_MAKER(Cart_sub, comm, result, (MPI_Comm comm, const int remains[], MPI_Comm* result),
         (comm, remains, result))

}  // extern "C"
