#include "registry/device/staging.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace quarry::detail {
namespace {

constexpr std::size_t least_bytes = 512;

std::byte* host(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

/// The bytes of the span that the runs cover, from the first to behind the last one.
std::size_t bytes_between(std::span<const ByteRuns> parts) {
  std::size_t bytes = 0;
  for (const ByteRuns& runs : parts) bytes += static_cast<std::size_t>(runs.reach());
  return bytes;
}

}  // namespace

/// Bytes of device memory that lie behind one another, of one output.
struct Staging::Chunk {
  const CopyBack* part;
  std::int64_t from;  ///< bytes behind the first one of its runs
  std::int64_t to;
};

Staging::Staging(CopyEngine& engine, std::size_t most_bytes)
    : engine_(engine), most_bytes_(std::max(most_bytes, least_bytes)) {}

/// Makes the memory greater where more bytes are to be copied than it has, up to the most.
Status Staging::reserve(std::size_t bytes) {
  const std::size_t most = most_bytes_ / CopyEngine::slots / 256 * 256;
  const std::size_t wanted =
      bytes >= most ? most : std::min(most, std::bit_ceil(std::max(bytes, std::size_t{256})));
  if (wanted <= slot_bytes_ && memory_ != nullptr) return {};
  if (memory_ != nullptr) {
    if (Status s = engine_.wait(); !s) return s;
  }
  slot_bytes_ = 0;
  memory_.reset();
  Result<std::shared_ptr<void>> memory = engine_.allocate_staging(wanted * CopyEngine::slots);
  if (!memory) return memory.status();
  memory_ = *std::move(memory);
  slot_bytes_ = wanted;
  slot_ = 0;
  used_ = 0;
  return {};
}

Status Staging::next_slot() {
  if (Status s = engine_.mark(slot_); !s) return s;
  slot_ = (slot_ + 1) % CopyEngine::slots;
  used_ = 0;
  return engine_.wait(slot_);
}

Status Staging::upload(const DeviceSpan& span, std::span<const ByteRuns> parts) {
  if (parts.empty()) return {};
  if (Status s = reserve(bytes_between(parts)); !s) return s;
  std::uint64_t first = parts.front().begin;
  std::uint64_t last = first;
  for (const ByteRuns& runs : parts) {
    first = std::min(first, runs.begin);
    last = std::max(last, runs.end());
  }
  while (first < last) {
    if (used_ == slot_bytes_) {
      if (Status s = next_slot(); !s) return s;
    }
    const std::size_t bytes = std::min(static_cast<std::size_t>(last - first), slot_bytes_ - used_);
    std::byte* const place = slot(slot_) + used_;
    bool is_needed = false;
    for (const ByteRuns& runs : parts) {
      const auto from = static_cast<std::int64_t>(first - runs.begin);  // before the runs if it is negative
      each_run(
          runs, from, from + static_cast<std::int64_t>(bytes), [&](std::int64_t offset, std::int64_t count) {
            std::memcpy(place + (offset - from), host(runs.begin) + offset, static_cast<std::size_t>(count));
            is_needed = true;
          });
    }
    if (is_needed) {
      if (Status s = engine_.copy(span.at(first), place, bytes); !s) return s;
      used_ = std::min(slot_bytes_, (used_ + bytes + 255) / 256 * 256);
    }
    first += bytes;
  }
  return {};
}

Status Staging::download(std::span<const CopyBack> parts) {
  std::size_t most = 0;
  for (const CopyBack& part : parts) most = std::max(most, static_cast<std::size_t>(part.runs.reach()));
  if (most == 0) return engine_.wait();
  if (Status s = reserve(most); !s) return s;
  std::vector<Chunk> chunks;
  const auto step = static_cast<std::int64_t>(slot_bytes_);
  for (const CopyBack& part : parts) {
    const std::int64_t end = part.runs.reach();
    for (std::int64_t at = 0; at < end; at += step) chunks.push_back({&part, at, std::min(at + step, end)});
  }
  // One chunk is under way while the one before it goes to its place.
  for (std::size_t i = 0; i <= chunks.size(); ++i) {
    const int half = static_cast<int>(i % CopyEngine::slots);
    if (i < chunks.size()) {
      const auto& [part, from, to] = chunks[i];
      const std::byte* const memory = part->span->at(part->runs.begin) + from;
      if (Status s = engine_.copy(slot(half), memory, static_cast<std::size_t>(to - from)); !s) return s;
      if (Status s = engine_.mark(half); !s) return s;
    }
    if (i == 0) continue;
    if (Status s = engine_.wait(1 - half); !s) return s;
    const Chunk& landed = chunks[i - 1];
    const std::byte* const place = slot(1 - half);
    each_run(landed.part->runs, landed.from, landed.to, [&](std::int64_t offset, std::int64_t count) {
      std::memcpy(host(landed.part->runs.begin) + offset, place + (offset - landed.from),
                  static_cast<std::size_t>(count));
    });
  }
  const Status done = engine_.wait();
  slot_ = 0;
  used_ = 0;
  return done;
}

}  // namespace quarry::detail
