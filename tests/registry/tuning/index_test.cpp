// The choice: a function of the set of measurements.
#include "registry/tuning/index.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "registry/tuning/index_file.hpp"
#include "support/catch_compat.hpp"
#include "support/random_measurement.hpp"

namespace {

using namespace quarry;
using detail::Digest;
using detail::Measurement;
using detail::TuningIndex;
using detail::TuningKey;
using detail::TuningTable;
using test::Random;
using test::sources;

/// What an index says of every problem that is asked about here, as text.
std::string choices_text(const TuningIndex& index) {
  std::string text;
  for (const char* device : {"NVIDIA H200", "NVIDIA H100 80GB HBM3", "another"}) {
    for (int key = 0; key < 4; ++key) {
      for (std::int64_t m = 0; m < 45; ++m) {
        const auto found =
            index.find(detail::tuning_device_digest(device), {detail::digest_of(std::to_string(key)), m});
        for (const detail::TunedChoice& each : found) {
          text += index.kernels()[each.kernel].name + " " + std::to_string(each.slices) + " " +
                  std::to_string(each.mode) + std::to_string(each.raster) + std::to_string(each.swizzle) +
                  " " + std::to_string(each.gaps_us) + " " + std::to_string(each.load_us) + " " +
                  std::to_string(each.workspace) + ";";
        }
        text += "\n";
      }
    }
  }
  return text;
}

/// The kernels and controls that may come first, searched again: those with the least of the greater ratio.
std::set<std::string> best_of(const std::vector<const Measurement*>& group) {
  struct Times {
    double gaps = std::numeric_limits<double>::infinity();
    double load = std::numeric_limits<double>::infinity();
  };
  const auto name = [](const Measurement& m) {
    const Controls& c = m.controls;
    return m.kernel + "/" + std::to_string(c.split_k_slices.value_or(0)) + "/" +
           std::to_string(c.mode ? static_cast<int>(*c.mode) + 1 : 0) + "/" +
           std::to_string(c.raster ? static_cast<int>(*c.raster) + 1 : 0) + "/" +
           std::to_string(c.swizzle.value_or(0));
  };
  std::map<std::string, Times> kernels;
  Times least;
  for (const Measurement* m : group) {
    Times& times = kernels[name(*m)];
    times.gaps = std::min(times.gaps, m->gaps_us[1]);
    if (m->load_us) times.load = std::min(times.load, (*m->load_us)[1]);
    least.gaps = std::min(least.gaps, times.gaps);
    least.load = std::min(least.load, times.load);
  }
  double best = std::numeric_limits<double>::infinity();
  std::map<std::string, double> scores;
  for (const auto& [kernel, times] : kernels) {
    double score = times.gaps / least.gaps;
    if (times.load < std::numeric_limits<double>::infinity())
      score = std::max(score, times.load / least.load);
    scores[kernel] = score;
    best = std::min(best, score);
  }
  std::set<std::string> names;
  for (const auto& [kernel, score] : scores) {
    if (score == best) names.insert(kernel);
  }
  return names;
}

/// The measurements that count for a problem, found by reading all.
std::vector<const Measurement*> group_for(const TuningTable& table, const std::string& device,
                                          const TuningKey& key) {
  std::vector<const Measurement*> of_line;
  for (const auto& [id, m] : table.measurements()) {
    if (m.sources == sources && m.device == device && m.key.digest == key.digest) of_line.push_back(&m);
  }
  const auto at = [&](std::int64_t m) {
    std::vector<const Measurement*> group;
    for (const Measurement* each : of_line) {
      if (each->key.m == m) group.push_back(each);
    }
    return group;
  };
  if (auto exact = at(key.m); !exact.empty()) return exact;
  std::optional<std::int64_t> end;
  for (const Measurement* each : of_line) {
    const bool holds = each->is_interval() && each->above < key.m && key.m <= each->key.m;
    if (holds) end = std::min(end.value_or(each->key.m), each->key.m);
  }
  return end ? at(*end) : std::vector<const Measurement*>();
}

detail::TableStamp stamp_of(const TuningTable& table) {
  return {table.text().size(), detail::digest_of(table.text())};
}

}  // namespace

TEST_CASE("a choice is what reading all measurements finds") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 20; ++i) {
    const TuningTable table = test::table_of(test::random_measurements(random, 1 + random() % 120));
    const TuningIndex index(table, sources);
    for (const char* device : {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}) {
      for (int key = 0; key < 3; ++key) {
        for (std::int64_t m = 0; m < 45; ++m) {
          const TuningKey asked = {detail::digest_of(std::to_string(key)), m};
          const auto group = group_for(table, device, asked);
          const auto found = index.find(detail::tuning_device_digest(device), asked);
          INFO(device << " key " << key << " m " << m);
          REQUIRE(found.empty() == group.empty());
          if (group.empty()) continue;
          const detail::TunedChoice& first = found.front();
          const std::string name = index.kernels()[first.kernel].name + "/" + std::to_string(first.slices) +
                                   "/" + std::to_string(first.mode) + "/" + std::to_string(first.raster) +
                                   "/" + std::to_string(first.swizzle);
          REQUIRE(best_of(group).contains(name));
        }
      }
    }
  }
}

TEST_CASE("the order of merging never changes the choice") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 20; ++i) {
    auto all = test::random_measurements(random, 80);
    const std::string expected = choices_text(TuningIndex(test::table_of(all), sources));
    std::shuffle(all.begin(), all.end(), random);
    TuningTable joined_table;
    TuningIndex joined_index;
    std::vector<TuningIndex> parts;
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random() % 30, all.size() - begin);
      const TuningTable part = test::table_of(std::span(all).subspan(begin, count));
      joined_table.join(part);
      joined_table.join(part);
      joined_index = test::coin(random) ? TuningIndex::joined(joined_index, TuningIndex(part, sources))
                                        : TuningIndex::joined(TuningIndex(part, sources), joined_index);
      begin += count;
    }
    REQUIRE(choices_text(TuningIndex(joined_table, sources)) == expected);
    REQUIRE(choices_text(joined_index) == expected);
    REQUIRE(choices_text(TuningIndex::joined(joined_index, joined_index)) == expected);
  }
}

TEST_CASE("an interval is above the M before it, up to its own M") {
  Random random(3);
  Measurement m = test::random_measurement(random);
  m.device = "NVIDIA H200";
  m.sources = sources;
  m.key = {detail::digest_of("0"), 64};
  m.above = 32;
  m.kernel = "interval";
  Measurement exact = m;
  exact.key.m = 48;
  exact.above = 47;
  exact.kernel = "exact";
  const TuningIndex index(test::table_of(std::vector{m, exact}), sources);
  const auto kernel_at = [&](std::int64_t at) {
    const auto found = index.find(detail::tuning_device_digest("NVIDIA H200"), {m.key.digest, at});
    return found.empty() ? std::string() : index.kernels()[found.front().kernel].name;
  };
  CHECK(kernel_at(32).empty());
  CHECK(kernel_at(33) == "interval");
  CHECK(kernel_at(47) == "interval");
  CHECK(kernel_at(48) == "exact");
  CHECK(kernel_at(49) == "interval");
  CHECK(kernel_at(64) == "interval");
  CHECK(kernel_at(65).empty());
}

TEST_CASE("an index that was written is read as it was") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 10; ++i) {
    const TuningTable table = test::table_of(test::random_measurements(random, random() % 100));
    const TuningIndex index(table, sources);
    const auto bytes = detail::to_bytes(index, stamp_of(table), sources);
    const Result<TuningIndex> read = detail::index_from_bytes(bytes, stamp_of(table), sources);
    REQUIRE(read);
    REQUIRE(choices_text(*read) == choices_text(index));
    REQUIRE(read->other_sources() == index.other_sources());
    REQUIRE(detail::to_bytes(*read, stamp_of(table), sources) == bytes);
    REQUIRE(!detail::index_from_bytes(bytes, stamp_of(table), "others"));
    REQUIRE(!detail::index_from_bytes(bytes, {1, {}}, sources));
  }
}

TEST_CASE("a damaged index is refused") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const TuningTable table = test::table_of(test::random_measurements(random, 40));
  const auto bytes = detail::to_bytes(TuningIndex(table, sources), stamp_of(table), sources);
  for (std::size_t size = 0; size < bytes.size(); size += 1 + random() % 7)
    REQUIRE(!detail::index_from_bytes(std::span(bytes).first(size), stamp_of(table), sources));
  for (int i = 0; i < 500; ++i) {
    auto changed = bytes;
    changed[random() % changed.size()] ^= std::byte{1} << (random() % 8);
    REQUIRE(!detail::index_from_bytes(changed, stamp_of(table), sources));
  }
  // Numbers that are wrong under a right checksum: no crash, and no index that leads outside.
  for (int i = 0; i < 2000; ++i) {
    auto changed = bytes;
    changed[24 + random() % (changed.size() - 24)] = static_cast<std::byte>(random() % 256);
    const std::uint64_t checksum = detail::digest_of(std::span(changed).subspan(24)).low;
    std::memcpy(changed.data() + 16, &checksum, sizeof checksum);
    const Result<TuningIndex> read = detail::index_from_bytes(changed, stamp_of(table), sources);
    if (read) (void)choices_text(*read);
  }
}

TEST_CASE("an index counts measurements of each device and kernel, in a file too") {
  const auto seed = lab::fresh_seed();
  CAPTURE(seed);
  Random random(seed);
  const TuningTable table = test::table_of(test::random_measurements(random, 200));
  std::map<std::pair<std::string, std::string>, std::uint64_t> expected;
  for (const auto& [id, m] : table.measurements()) expected[{m.device, m.kernel}] += m.sources == sources;
  std::erase_if(expected, [](const auto& each) { return each.second == 0; });
  const TuningIndex once(table, sources);
  const TuningIndex twice = TuningIndex::joined(once, TuningIndex(TuningTable(), sources));
  const Result<TuningIndex> read =
      detail::index_from_bytes(detail::to_bytes(once, stamp_of(table), sources), stamp_of(table), sources);
  REQUIRE(read);
  for (const TuningIndex* index : {&once, &twice, &*read}) {
    std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
    for (const detail::TunedPair& each : index->pairs())
      counts[{index->devices()[each.device].name, index->kernels()[each.kernel].name}] = each.measurements;
    CHECK(counts == expected);
  }
}
