#include "registry/tuning/index.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace quarry::detail {
namespace {

/// The driver's names of the devices that the built-in models are made for.
constexpr std::pair<std::string_view, std::string_view> built_in_devices[] = {
    {"a100", "NVIDIA A100-SXM4-80GB"}, {"h100", "NVIDIA H100 80GB HBM3"}, {"h200", "NVIDIA H200"}};

TunedChoice choice_of(const Measurement& m) {
  const Controls& c = m.controls;
  const auto word = [](const auto& control) {
    return static_cast<std::uint8_t>(control ? static_cast<int>(*control) + 1 : 0);
  };
  return {.slices = c.split_k_slices.value_or(0),
          .mode = word(c.mode),
          .raster = word(c.raster),
          .swizzle = static_cast<std::uint8_t>(c.swizzle.value_or(0)),
          .gaps_us = m.gaps_us[median],
          .load_us = m.load_us ? (*m.load_us)[median] : 0,
          .workspace = m.workspace};
}

/// The kernel as it was run.
auto identity(const TunedChoice& c) { return std::tuple(c.kernel, c.slices, c.mode, c.raster, c.swizzle); }

template <class Place>
auto place(const Place& at) {
  return std::pair(at.line, at.m);
}

double shorter(double one, double other) {
  if (one == 0 || other == 0) return std::max(one, other);
  return std::min(one, other);
}

/// Leaves one of the measurements of each kernel. @param group of one problem
void combine(std::vector<TunedChoice>& group) {
  std::ranges::sort(group, {}, identity);
  std::size_t kept = 0;
  for (const TunedChoice& each : group) {
    if (kept > 0 && identity(group[kept - 1]) == identity(each)) {
      TunedChoice& same = group[kept - 1];
      same.gaps_us = std::min(same.gaps_us, each.gaps_us);
      same.load_us = shorter(same.load_us, each.load_us);
      same.workspace = std::max(same.workspace, each.workspace);
    } else {
      group[kept++] = each;
    }
  }
  group.resize(kept);
}

/// Puts the best first. @param group of one problem, each kernel once
void rank(std::vector<TunedChoice>& group) {
  double gaps = group.front().gaps_us;
  double load = 0;
  for (const TunedChoice& each : group) {
    gaps = std::min(gaps, each.gaps_us);
    load = shorter(load, each.load_us);
  }
  const auto order = [&](const TunedChoice& c) {
    const double loaded = c.load_us > 0 ? c.load_us / load : 0;
    return std::tuple(std::max(c.gaps_us / gaps, loaded), c.gaps_us, identity(c));
  };
  std::ranges::sort(group, {}, order);
}

/// The first of sorted places for each value of the leading bits of a line, and the end.
template <class Place>
std::vector<std::uint32_t> buckets_of(const std::vector<Place>& sorted) {
  const auto bits = std::bit_width(sorted.size());
  std::vector<std::uint32_t> first((std::size_t{1} << bits) + 1);
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < sorted.size(); ++i) {
    const std::size_t bucket = bits == 0 ? 0 : sorted[i].line.high >> (64 - bits);
    while (next <= bucket) first[next++] = i;
  }
  while (next < first.size()) first[next++] = static_cast<std::uint32_t>(sorted.size());
  return first;
}

/// The first place that is not before a line and an M.
template <class Place>
const Place* find_place(const std::vector<Place>& sorted, const std::vector<std::uint32_t>& buckets,
                        const Digest& line, std::int64_t m) {
  if (sorted.empty()) return nullptr;
  const auto bits = std::bit_width(sorted.size());
  const std::size_t bucket = line.high >> (64 - bits);
  const auto* const last = sorted.data() + buckets[bucket + 1];
  const auto* const found =
      std::lower_bound(sorted.data() + buckets[bucket], last, std::pair(line, m),
                       [](const Place& at, const auto& wanted) { return place(at) < wanted; });
  return found;
}

/// Measurements by device and kernel.
using Counts = std::map<std::pair<std::string, std::string>, std::uint64_t>;

/// The devices, or the kernels. @param part of the keys
template <class Part>
std::vector<TunedName> names_of(const Counts& counts, Part part) {
  std::map<std::string_view, std::uint64_t> sums;
  for (const auto& [key, count] : counts) sums[key.*part] += count;
  std::vector<TunedName> names;
  for (const auto& [name, count] : sums) names.push_back({std::string(name), count});
  return names;
}

/// The number of a name that is there.
std::uint32_t number_of(const std::vector<TunedName>& names, std::string_view name) {
  const auto found = std::ranges::lower_bound(names, name, std::less<>(), &TunedName::name);
  return static_cast<std::uint32_t>(found - names.begin());
}

}  // namespace

/// What an index is made of, in any order.
struct TuningIndex::Parts {
  struct Fact {
    Digest line;
    std::int64_t m;
    std::string_view kernel;
    TunedChoice choice;
  };
  std::vector<Fact> facts;
  std::vector<TunedInterval> intervals;
  Counts counts;
  std::uint64_t other_sources = 0;
  std::uint64_t damaged = 0;
  std::uint64_t future = 0;
};

std::string_view tuning_device(const DeviceModel& model) {
  const std::string_view name = model.name;
  for (const auto& [built_in, device] : built_in_devices) {
    if (name == built_in) return device;
  }
  return name;
}

Digest tuning_device_digest(std::string_view device) { return digest_of(device); }

Controls TunedChoice::controls() const {
  Controls c;
  if (mode > 0) c.mode = static_cast<Mode>(mode - 1);
  if (slices > 0) c.split_k_slices = slices;
  if (swizzle > 0) c.swizzle = swizzle;
  if (raster > 0) c.raster = static_cast<Raster>(raster - 1);
  return c;
}

TuningIndex::TuningIndex(const TuningTable& table, std::string_view sources)
    : TuningIndex([&] {
        Parts parts;
        parts.damaged = table.damaged();
        parts.future = table.future();
        for (const auto& [id, m] : table.measurements()) {
          if (m.sources != sources) {
            ++parts.other_sources;
            continue;
          }
          const Digest line = detail::joined(tuning_device_digest(m.device), m.key.digest);
          parts.facts.push_back({line, m.key.m, m.kernel, choice_of(m)});
          if (m.is_interval()) parts.intervals.push_back({line, m.key.m, m.above});
          ++parts.counts[{m.device, m.kernel}];
        }
        return parts;
      }()) {}

TuningIndex TuningIndex::joined(const TuningIndex& one, const TuningIndex& other) {
  Parts parts;
  one.add_to(parts);
  other.add_to(parts);
  return TuningIndex(std::move(parts));
}

void TuningIndex::add_to(Parts& parts) const {
  for (const TunedPoint& point : points_) {
    for (std::uint32_t i = point.first; i < point.first + point.count; ++i)
      parts.facts.push_back({point.line, point.m, kernels_[choices_[i].kernel].name, choices_[i]});
  }
  parts.intervals.insert(parts.intervals.end(), intervals_.begin(), intervals_.end());
  for (const TunedPair& each : pairs_)
    parts.counts[{devices_[each.device].name, kernels_[each.kernel].name}] += each.measurements;
  parts.other_sources += other_sources_;
  parts.damaged += damaged_;
  parts.future += future_;
}

TuningIndex::TuningIndex(Parts parts)
    : kernels_(names_of(parts.counts, &Counts::key_type::second)),
      devices_(names_of(parts.counts, &Counts::key_type::first)),
      other_sources_(parts.other_sources),
      damaged_(parts.damaged),
      future_(parts.future) {
  for (const auto& [key, count] : parts.counts)
    pairs_.push_back({number_of(devices_, key.first), number_of(kernels_, key.second), count});
  for (Parts::Fact& fact : parts.facts) fact.choice.kernel = number_of(kernels_, fact.kernel);
  std::ranges::sort(parts.facts, {}, place<Parts::Fact>);
  std::vector<TunedChoice> group;
  for (std::size_t i = 0; i < parts.facts.size();) {
    const auto at = place(parts.facts[i]);
    group.clear();
    for (; i < parts.facts.size() && place(parts.facts[i]) == at; ++i) group.push_back(parts.facts[i].choice);
    combine(group);
    rank(group);
    points_.push_back({at.first, at.second, static_cast<std::uint32_t>(choices_.size()),
                       static_cast<std::uint32_t>(group.size())});
    choices_.insert(choices_.end(), group.begin(), group.end());
  }
  // Of intervals that end at one M, the longest holds the others.
  std::ranges::sort(parts.intervals, {},
                    [](const TunedInterval& each) { return std::pair(place(each), each.above); });
  for (TunedInterval& each : parts.intervals) {
    if (!intervals_.empty() && place(intervals_.back()) == place(each)) continue;
    const auto point = std::ranges::lower_bound(points_, place(each), {}, place<TunedPoint>);
    each.point = static_cast<std::uint32_t>(point - points_.begin());
    intervals_.push_back(each);
  }
  make_buckets();
}

void TuningIndex::make_buckets() {
  point_buckets_ = buckets_of(points_);
  interval_buckets_ = buckets_of(intervals_);
}

std::span<const TunedChoice> TuningIndex::find(const Digest& device, const TuningKey& key) const {
  const Digest line = detail::joined(device, key.digest);
  const auto choices_at = [this](const TunedPoint& point) {
    return std::span(choices_).subspan(point.first, point.count);
  };
  const TunedPoint* const point = find_place(points_, point_buckets_, line, key.m);
  const TunedPoint* const points_end = points_.data() + points_.size();
  if (point != nullptr && point != points_end && place(*point) == std::pair(line, key.m))
    return choices_at(*point);
  const TunedInterval* interval = find_place(intervals_, interval_buckets_, line, key.m);
  const TunedInterval* const end = intervals_.data() + intervals_.size();
  for (; interval != nullptr && interval != end && interval->line == line; ++interval) {
    if (interval->above < key.m) return choices_at(points_[interval->point]);
  }
  return {};
}

}  // namespace quarry::detail
