#include "engine/mpi/passing_thread.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <fstream>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace px::engine {
namespace {

/// Messages between two ranks of one process.
struct FakeMpi {
  struct Sent {
    int from, to, tag;
    std::string bytes;
  };
  struct Receive {
    int own, from, tag;
    void* bytes;
  };
  std::mutex mutex;
  std::list<Sent> sent;
  std::map<std::uint64_t, Receive> receives;
  std::uint64_t last = 0;
  bool is_broken = false;
};

FakeMpi* mpi = nullptr;

/// RankMessageFunctions of the rank `own`.
template <int own>
RankMessageFunctions fake_mail() {
  RankMessageFunctions messages;
  messages.send = [](int rank, int tag, const void* bytes, std::uint64_t size) -> std::uint64_t {
    const std::lock_guard lock{mpi->mutex};
    mpi->sent.push_back({own, rank, tag, {static_cast<const char*>(bytes), size}});
    return ++mpi->last;
  };
  messages.receive = [](int rank, int tag, void* bytes, std::uint64_t) -> std::uint64_t {
    const std::lock_guard lock{mpi->mutex};
    mpi->receives[++mpi->last] = {own, rank, tag, bytes};
    return mpi->last;
  };
  messages.test = [](std::uint64_t request, std::uint64_t* size) {
    const std::lock_guard lock{mpi->mutex};
    if (mpi->is_broken) return -1;
    const auto receive = mpi->receives.find(request);
    if (receive == mpi->receives.end()) return 1;  // what is sent has gone
    const auto& [self, from, tag, bytes] = receive->second;
    for (auto it = mpi->sent.begin(); it != mpi->sent.end(); ++it) {
      if (it->to != self || it->from != from || it->tag != tag) continue;
      std::memcpy(bytes, it->bytes.data(), it->bytes.size());
      *size = it->bytes.size();
      mpi->sent.erase(it);
      mpi->receives.erase(receive);
      return 1;
    }
    return 0;
  };
  messages.take = [](int tag, int* rank, void* bytes, std::uint64_t capacity) -> long long {
    const std::lock_guard lock{mpi->mutex};
    for (auto it = mpi->sent.begin(); it != mpi->sent.end(); ++it) {
      if (it->to != own || it->tag != tag || it->bytes.size() > capacity) continue;
      *rank = it->from;
      const auto size = static_cast<long long>(it->bytes.size());
      std::memcpy(bytes, it->bytes.data(), it->bytes.size());
      mpi->sent.erase(it);
      return size;
    }
    return -1;
  };
  return messages;
}

class PassingThreadTest : public testing::Test {
 protected:
  PassingThreadTest() {
    mpi = &mpi_;
    folder_ = *os::SegmentFolder::create();
  }
  ~PassingThreadTest() override { folder_->remove_all(); }

  void write(const std::string& segment, const std::string& bytes) {
    std::ofstream{folder_->name().folder + "/" + segment, std::ios::binary} << bytes;
  }
  std::function<void()> wake() {
    return [this] {
      const std::lock_guard lock{mutex_};
      has_news_ = true;
      news_.notify_all();
    };
  }
  /// What comes until it is whole or lost.
  std::string take_all(PassingThread& taker, std::uint64_t size) {
    std::string all;
    while (all.size() < size) {
      {
        std::unique_lock lock{mutex_};
        if (!news_.wait_for(lock, std::chrono::seconds(60), [this] { return has_news_; }))
          return "nothing has come";
        has_news_ = false;
      }
      for (const PassingThread::Arrival& arrival : taker.fetch()) {
        if (const auto* loss = std::get_if<PassingThread::Loss>(&arrival)) return loss->why;
        all += std::get<PassingThread::Piece>(arrival).bytes;
      }
    }
    return all;
  }

  FakeMpi mpi_;
  std::shared_ptr<os::SegmentFolder> folder_;
  std::mutex mutex_;
  std::condition_variable news_;
  bool has_news_ = false;
};

TEST_F(PassingThreadTest, BringsASegmentFromOneRankToAnother) {
  std::string bytes;
  for (std::size_t i = 0; bytes.size() < 9 * os::passed_piece + 5; ++i)
    bytes += std::to_string(i) + " ";
  PassingThread giver{fake_mail<0>(), folder_, nullptr, [] {}};
  PassingThread taker{fake_mail<1>(), folder_, nullptr, wake()};
  taker.take("bob.me.2", 0, "ann.me.1", bytes.size());
  write("ann.me.1", bytes);
  giver.give("ann.me.1", bytes.size(), 1);
  giver.filled("ann.me.1", bytes.size() / 2);
  giver.filled("ann.me.1", bytes.size());
  EXPECT_TRUE(take_all(taker, bytes.size()) == bytes);
}

TEST_F(PassingThreadTest, SaysThatASegmentIsNotPassedOn) {
  PassingThread giver{fake_mail<0>(), folder_, nullptr, [] {}};
  PassingThread taker{fake_mail<1>(), folder_, nullptr, wake()};
  giver.give("ann.me.1", 100, 1);
  giver.filled("ann.me.1", 100);  // and somebody has removed its file
  taker.take("bob.me.2", 0, "ann.me.1", 100);
  EXPECT_EQ(take_all(taker, 100), "the rank that has it does not pass it on");
}

TEST_F(PassingThreadTest, PassesNothingOnInABrokenWorld) {
  BrokenWorld world;
  world.set("rank 0 died");
  PassingThread taker{fake_mail<1>(), folder_, &world, wake()};
  taker.take("bob.me.2", 0, "ann.me.1", 100);
  EXPECT_EQ(take_all(taker, 100), "MPI passes on no more arrays");
  EXPECT_TRUE(mpi_.sent.empty());
}

TEST_F(PassingThreadTest, GivesUpWhenMpiFails) {
  mpi_.is_broken = true;
  PassingThread taker{fake_mail<1>(), folder_, nullptr, wake()};
  taker.take("bob.me.2", 0, "ann.me.1", 100);
  EXPECT_EQ(take_all(taker, 100), "MPI passes on no more arrays");
}

}  // namespace
}  // namespace px::engine
