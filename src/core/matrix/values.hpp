// Matrix entries as numbers of distinct values: models have few, and one byte or two are fewer than eight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <vector>

namespace galton {

struct TooManyValues {};

// All threads share one dictionary; each has a small cache in front of it.
class ValueDictionary {
  public:
    explicit ValueDictionary(size_t limit) : limit_(limit) {}

    uint16_t code(double value) {
        std::lock_guard guard(mutex_);
        auto [found, fresh] = codes_.emplace(value, values_.size());
        if (fresh) {
            if (values_.size() == limit_) throw TooManyValues{};
            values_.push_back(value);
        }
        return static_cast<uint16_t>(found->second);
    }

    // Put the values in ascending order; returns the new code of each old one.
    std::vector<uint16_t> sort() {
        std::vector<uint16_t> order(values_.size()), rank(values_.size());
        std::iota(order.begin(), order.end(), uint16_t{0});
        std::sort(order.begin(), order.end(), [&](uint16_t a, uint16_t b) { return values_[a] < values_[b]; });
        std::vector<double> sorted;
        for (size_t i = 0; i < order.size(); ++i) {
            rank[order[i]] = static_cast<uint16_t>(i);
            sorted.push_back(values_[order[i]]);
        }
        values_ = std::move(sorted);
        return rank;
    }
    const std::vector<double>& values() const { return values_; }

  private:
    const size_t limit_;
    std::mutex mutex_;
    std::unordered_map<double, size_t> codes_;
    std::vector<double> values_;
};

class ValueCache {
  public:
    explicit ValueCache(ValueDictionary& dictionary) : dictionary_(dictionary), entries_(SIZE) {}

    uint16_t code(double value) {
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        Entry& entry = entries_[bits * 0x9E3779B97F4A7C15ull >> (64 - LOG_SIZE)];
        if (entry.bits != bits) {
            entry = {bits, dictionary_.code(value)};
            if (values_.size() <= entry.code) values_.resize(entry.code + size_t{1});
            values_[entry.code] = value;
        }
        return entry.code;
    }
    // The value of a code that this cache gave out.
    double value(uint32_t code) const { return values_[code]; }

  private:
    static constexpr int LOG_SIZE = 12;
    static constexpr size_t SIZE = size_t{1} << LOG_SIZE;
    struct Entry {
        uint64_t bits = 0;  // of 0.0, which is never a matrix entry
        uint16_t code = 0;
    };
    ValueDictionary& dictionary_;
    std::vector<Entry> entries_;
    std::vector<double> values_;
};

}  // namespace galton
