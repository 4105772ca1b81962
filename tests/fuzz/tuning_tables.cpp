#include <algorithm>
#include <string>

#include "fuzz/harness_list.hpp"
#include "fuzz/input.hpp"
#include "registry/tuning/index_file.hpp"

namespace quarry::fuzz {
namespace {

using detail::Measurement;
using detail::TuningIndex;
using detail::TuningTable;

constexpr std::string_view sources = "these";

/// A measurement of any values, most of which a line can hold.
Measurement measurement_of(Input& input) {
  const auto text = [&] { return std::string(text_of(input.take(input.byte() % 12))); };
  const auto small = [&] { return input.byte() % 16 == 0 ? input.number() : input.byte() % 8; };
  const auto times = [&] {
    const auto us = input.byte() % 16 == 0 ? input.raw<double>() : 1.0 + input.byte() % 4;
    return detail::TuningTimes{us, us + input.byte() % 3, us + 5};
  };
  Measurement m;
  m.device = input.coin() ? "NVIDIA H200" : text();
  m.sources = input.byte() % 8 == 0 ? text() : std::string(sources);
  m.operation = "gemm";
  m.problem = input.coin() ? "gemm 1x2x3 --a f16:row" : text();
  m.key = {detail::digest_of(std::to_string(input.byte() % 3)), small()};
  m.above = input.coin() ? std::max<std::int64_t>(m.key.m, 0) - 1 : small();
  m.kernel = input.coin() ? "kernel" : text();
  if (input.coin()) m.controls.mode = input.word<Mode>();
  if (input.coin()) m.controls.split_k_slices = static_cast<int>(input.number());
  if (input.coin()) m.controls.swizzle = static_cast<int>(small());
  if (input.coin()) m.controls.raster = input.word<Raster>();
  m.workspace = static_cast<std::uint64_t>(input.number());
  m.gaps_us = times();
  if (input.coin()) m.load_us = times();
  m.at = small();
  return m;
}

/// Every problem of the table has a choice, of the kernels that were measured for it.
void check_choices(const TuningTable& table, const TuningIndex& index) {
  for (const auto& [id, m] : table.measurements()) {
    if (m.sources != sources) continue;
    const auto found = index.find(detail::tuning_device_digest(m.device), m.key);
    require(!found.empty(), "what was measured is found");
    for (const detail::TunedChoice& each : found)
      require(each.kernel < index.kernels().size(), "a choice names a kernel");
    (void)found.front().controls();
  }
}

}  // namespace

void tuning_tables(Bytes input) {
  Input values(input);
  TuningTable table;
  if (values.coin()) {
    while (!values.empty()) {
      const Measurement m = measurement_of(values);
      if (!detail::is_writable(m)) continue;
      detail::IdentifiedMeasurement read;
      require(detail::read_line(detail::to_line(m), read) == detail::LineVerdict::read,
              "what can be written is read");
      require(detail::to_line(read.measurement) == detail::to_line(m), "as it was");
      table.add(m);
    }
  } else {
    table.read(text_of(values.rest()));
  }
  TuningTable again;
  again.read(table.text());
  require(again.text() == table.text() && again.damaged() == 0, "a table that was written is read as it was");
  const TuningIndex index(table, sources);
  check_choices(table, index);
  check_choices(table, TuningIndex::joined(index, index));
  const auto bytes = detail::to_bytes(index, {}, sources);
  const Result<TuningIndex> read = detail::index_from_bytes(bytes, {}, sources);
  require(read && detail::to_bytes(*read, {}, sources) == bytes,
          "an index that was written is read as it was");
}

void tuning_indexes(Bytes input) {
  Input values(input);
  const bool repaired = values.coin();
  std::vector<std::byte> bytes;
  for (const std::uint8_t byte : values.rest()) bytes.push_back(std::byte{byte});
  constexpr std::size_t head = 64;
  if (repaired && bytes.size() >= head) {
    // The head of an empty index, then a right size and checksum.
    const auto empty = detail::to_bytes(TuningIndex(), {}, sources);
    std::ranges::copy(std::span(empty).first(head), bytes.begin());
    const std::uint64_t size = bytes.size();
    std::memcpy(bytes.data() + 8, &size, sizeof size);
    const std::uint64_t checksum = detail::digest_of(std::span(bytes).subspan(24)).low;
    std::memcpy(bytes.data() + 16, &checksum, sizeof checksum);
  }
  const Result<TuningIndex> read = detail::index_from_bytes(bytes, {}, sources);
  check_message(read.status());
  if (!read) return;
  require(detail::to_bytes(*read, {}, sources) == bytes, "an index that was read is written as it was");
  for (const detail::TunedPoint& point : read->points()) {
    for (const std::int64_t m : {point.m - 1, point.m, point.m + 1}) (void)read->find({}, {point.line, m});
  }
  (void)TuningIndex::joined(*read, *read);
}

}  // namespace quarry::fuzz
