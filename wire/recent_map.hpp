#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace px {

/// A hash map that remembers the last `capacity` keys that were added: each further key replaces
/// the oldest one. For questions such as "was this seen before?" with bounded memory: repeated
/// messages, requests that have ended.
///
/// The map allocates nothing for a single key, and nothing at all once it is full: the entries are
/// in a ring, and a hash table with linear probing holds their positions. One thread owns it.
///
/// Hash  a function object on keys; its low bits must be well mixed, as the table size is a power
///       of two.
template <class Key, class Value, class Hash>
class RecentMap {
 public:
  /// Precondition: 0 < capacity < 2^31.
  explicit RecentMap(std::size_t capacity) : capacity_(capacity), places_(first_size, none) {}

  /// Adds a key, or replaces the value of a present key, whose age does not change.
  /// result  true for a new key.
  bool add(const Key& key, Value value) {
    if (const std::size_t slot = slot_of(key); places_[slot] != none) {
      entries_[places_[slot]].value = std::move(value);
      return false;
    }
    if (entries_.size() < capacity_) {
      if (2 * (entries_.size() + 1) > places_.size()) grow();
      entries_.push_back({key, std::move(value)});
      places_[slot_of(key)] = static_cast<Place>(entries_.size() - 1);
      return true;
    }
    Slot& oldest = entries_[oldest_];
    forget(slot_of(oldest.key));
    oldest = {key, std::move(value)};
    places_[slot_of(key)] = oldest_;
    oldest_ = (oldest_ + 1) % static_cast<Place>(capacity_);
    return true;
  }

  /// The key's value; null if the key was never added or has been forgotten. Valid until the next
  /// add().
  const Value* find(const Key& key) const {
    const Place place = places_[slot_of(key)];
    return place == none ? nullptr : &entries_[place].value;
  }

  /// The number of remembered keys; never more than the capacity.
  std::size_t size() const { return entries_.size(); }

 private:
  using Place = std::uint32_t;  // in entries_
  static constexpr Place none = ~Place{0};
  static constexpr std::size_t first_size = 64;

  struct Slot {
    Key key;
    [[no_unique_address]] Value value;
  };

  /// The slot at which the search for a key begins.
  std::size_t home(const Key& key) const { return Hash{}(key) & (places_.size() - 1); }
  std::size_t behind(std::size_t slot) const { return (slot + 1) & (places_.size() - 1); }

  /// The slot that holds the key's position, or the free one in which it would be entered.
  std::size_t slot_of(const Key& key) const {
    std::size_t slot = home(key);
    while (places_[slot] != none && !(entries_[places_[slot]].key == key)) slot = behind(slot);
    return slot;
  }

  /// Empties a slot and closes the gap: later entries of the same probe sequence move up, so that a
  /// search never stops too early. There are no tombstones.
  void forget(std::size_t gap) {
    for (std::size_t slot = behind(gap); places_[slot] != none; slot = behind(slot)) {
      const std::size_t wish = home(entries_[places_[slot]].key);
      const bool is_reached_through_gap =
          gap <= slot ? wish <= gap || slot < wish : slot < wish && wish <= gap;
      if (!is_reached_through_gap) continue;
      places_[gap] = places_[slot];
      gap = slot;
    }
    places_[gap] = none;
  }

  /// Doubles the table, and enters all positions again.
  void grow() {
    places_.assign(2 * places_.size(), none);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      places_[slot_of(entries_[i].key)] = static_cast<Place>(i);
  }

  std::size_t capacity_;
  std::vector<Slot> entries_;
  std::vector<Place> places_;  // a power of two, at most half of them used
  Place oldest_ = 0;           // meaningful once entries_ is full
};

}  // namespace px
