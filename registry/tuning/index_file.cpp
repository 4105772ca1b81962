#include "registry/tuning/index_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "basic/text.hpp"
#include "registry/compile/byte_stream.hpp"
#include "registry/compile/disk_cache_folder.hpp"
#include "registry/compile/whole_file.hpp"

namespace quarry::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are copied as they are");

constexpr std::string_view magic = "QUARRYT2";
constexpr std::size_t size_offset = 8;
constexpr std::size_t checksum_offset = 16;
constexpr std::size_t body_offset = 24;
constexpr std::size_t sample_bytes = std::size_t{64} << 10;

Status damaged() { return {StatusCode::invalid_artifact, "The index of the tuning table is damaged"}; }

void write(ByteWriter& writer, const Digest& digest) {
  writer.number(digest.high);
  writer.number(digest.low);
}

Digest read_digest(ByteReader& reader) {
  const auto high = reader.number<std::uint64_t>();
  return {high, reader.number<std::uint64_t>()};
}

template <class Record>
void write(ByteWriter& writer, const std::vector<Record>& records) {
  writer.raw(records.data(), records.size() * sizeof(Record));
}

template <class Record>
bool read(ByteReader& reader, std::uint64_t count, std::vector<Record>& records) {
  if (count > reader.left().size() / sizeof(Record)) return false;
  const auto bytes = reader.take(count * sizeof(Record));
  records.resize(static_cast<std::size_t>(count));
  if (!bytes.empty()) std::memcpy(records.data(), bytes.data(), bytes.size());
  return true;
}

bool read(ByteReader& reader, std::uint64_t count, std::vector<TunedName>& names) {
  if (count > reader.left().size()) return false;
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    const auto measurements = reader.number<std::uint64_t>();
    names.push_back({reader.text(), measurements});
    if (names.size() > 1 && !(names[names.size() - 2].name < names.back().name)) return false;
  }
  return !reader.failed();
}

template <class Place>
bool are_sorted(const std::vector<Place>& places) {
  const auto before = [](const Place& one, const Place& other) {
    return std::pair(one.line, one.m) < std::pair(other.line, other.m);
  };
  return std::ranges::adjacent_find(places, std::not_fn(before)) == places.end();
}

bool is_good(const TunedChoice& choice, std::size_t kernels) {
  return choice.kernel < kernels && choice.slices >= 0 && choice.mode <= 5 && choice.raster <= 2 &&
         choice.swizzle <= 8 && std::isfinite(choice.gaps_us) && choice.gaps_us > 0 &&
         std::isfinite(choice.load_us) && choice.load_us >= 0;
}

struct FileFacts {
  TableStamp stamp;
  timespec changed = {};
};

/// Of a file that is there and can be read.
std::optional<FileFacts> facts_of(const std::string& path, bool sampled) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  FileFacts facts{.stamp = {.bytes = static_cast<std::uint64_t>(status.st_size), .sample = {}},
                  .changed = status.st_mtim};
  if (!sampled) return facts;
  std::vector<std::byte> sample(2 * sample_bytes);
  const auto piece = [&](off_t at, std::size_t to) {
    const ssize_t got = ::pread(file.number(), sample.data() + to, sample_bytes, at);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  };
  std::size_t count = piece(0, 0);
  const off_t last = status.st_size - static_cast<off_t>(sample_bytes);
  if (last > 0) count += piece(last, count);
  facts.stamp.sample = digest_of(std::span(sample).first(count));
  return facts;
}

bool is_before(const timespec& one, const timespec& other) {
  return std::pair(one.tv_sec, one.tv_nsec) < std::pair(other.tv_sec, other.tv_nsec);
}

}  // namespace

/// Access to an index's parts.
struct TuningIndexFormat {
  static void write(ByteWriter& writer, const TuningIndex& index) {
    for (const std::uint64_t count : {index.other_sources_, index.damaged_, index.future_})
      writer.number(count);
    for (const std::size_t count : {index.points_.size(), index.intervals_.size(), index.choices_.size(),
                                    index.kernels_.size(), index.devices_.size(), index.pairs_.size()})
      writer.number(std::uint64_t{count});
    detail::write(writer, index.points_);
    detail::write(writer, index.intervals_);
    detail::write(writer, index.choices_);
    for (const auto* names : {&index.kernels_, &index.devices_}) {
      for (const TunedName& each : *names) {
        writer.number(each.measurements);
        writer.text(each.name);
      }
    }
    detail::write(writer, index.pairs_);
  }

  static bool read(ByteReader& reader, TuningIndex& index) {
    for (std::uint64_t* count : {&index.other_sources_, &index.damaged_, &index.future_})
      *count = reader.number<std::uint64_t>();
    std::array<std::uint64_t, 6> counts = {};
    for (std::uint64_t& count : counts) count = reader.number<std::uint64_t>();
    const bool whole =
        detail::read(reader, counts[0], index.points_) && detail::read(reader, counts[1], index.intervals_) &&
        detail::read(reader, counts[2], index.choices_) && detail::read(reader, counts[3], index.kernels_) &&
        detail::read(reader, counts[4], index.devices_) && detail::read(reader, counts[5], index.pairs_);
    if (!whole || !reader.complete() || !is_consistent(index)) return false;
    index.make_buckets();
    return true;
  }

 private:
  static bool is_consistent(const TuningIndex& index) {
    const auto& points = index.points_;
    const std::size_t choices = index.choices_.size();
    const auto has_choices = [&](const TunedPoint& point) {
      return point.m >= 0 && point.m <= most_tuned_m && point.count > 0 && point.first <= choices &&
             point.count <= choices - point.first;
    };
    const auto has_point = [&](const TunedInterval& each) {
      return each.point < points.size() && points[each.point].line == each.line &&
             points[each.point].m == each.m && each.above >= -1 && each.above < each.m;
    };
    const auto good = [&](const TunedChoice& choice) { return is_good(choice, index.kernels_.size()); };
    const auto has_names = [&](const TunedPair& each) {
      return each.device < index.devices_.size() && each.kernel < index.kernels_.size();
    };
    return std::ranges::all_of(index.pairs_, has_names) && are_sorted(points) &&
           are_sorted(index.intervals_) && std::ranges::all_of(points, has_choices) &&
           std::ranges::all_of(index.intervals_, has_point) && std::ranges::all_of(index.choices_, good);
  }
};

TableStamp stamp_of(std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  const std::span<const std::byte> first = bytes.first(std::min(bytes.size(), sample_bytes));
  std::vector<std::byte> sample(first.begin(), first.end());
  if (bytes.size() > sample_bytes) {
    const std::span<const std::byte> last = bytes.last(sample_bytes);
    sample.insert(sample.end(), last.begin(), last.end());
  }
  return {bytes.size(), digest_of(sample)};
}

std::string index_path(const std::string& table_path) { return table_path + ".index"; }

std::vector<std::byte> to_bytes(const TuningIndex& index, const TableStamp& table, std::string_view sources) {
  ByteWriter writer;
  writer.raw(magic.data(), magic.size());
  writer.number(std::uint64_t{0});
  writer.number(std::uint64_t{0});
  write(writer, digest_of(sources));
  writer.number(table.bytes);
  write(writer, table.sample);
  TuningIndexFormat::write(writer, index);
  writer.patch(size_offset, writer.bytes().size());
  writer.patch(checksum_offset, digest_of(writer.bytes().subspan(body_offset)).low);
  return writer.take();
}

Result<TuningIndex> index_from_bytes(std::span<const std::byte> bytes, const TableStamp& table,
                                     std::string_view sources) {
  ByteReader reader(bytes);
  const auto begin = reader.take(magic.size());
  const bool right_magic = std::ranges::equal(begin, std::as_bytes(std::span(magic)));
  if (!right_magic || reader.number<std::uint64_t>() != bytes.size()) return damaged();
  const auto checksum = reader.number<std::uint64_t>();
  if (reader.failed() || digest_of(bytes.subspan(body_offset)).low != checksum) return damaged();
  const bool same_sources = read_digest(reader) == digest_of(sources);
  const auto table_bytes = reader.number<std::uint64_t>();
  const TableStamp stamp = {table_bytes, read_digest(reader)};
  if (!same_sources || stamp != table) {
    return Status(StatusCode::invalid_artifact,
                  "The index belongs to another state of the tuning table, or to another library");
  }
  TuningIndex index;
  if (!TuningIndexFormat::read(reader, index)) return damaged();
  return index;
}

Result<LoadedIndex> load_index(const std::string& table_path, std::string_view sources) {
  const std::optional<FileFacts> table = facts_of(table_path, true);
  const std::optional<FileFacts> beside = facts_of(index_path(table_path), false);
  if (table && beside && !is_before(beside->changed, table->changed) &&
      beside->stamp.bytes <= most_table_bytes) {
    if (const Result<WholeFile> file = WholeFile::open(index_path(table_path))) {
      const Result<std::vector<std::byte>> bytes = file->read(file->size());
      if (bytes) {
        Result<TuningIndex> index = index_from_bytes(*bytes, table->stamp, sources);
        if (index) return LoadedIndex{*std::move(index), true};
      }
    }
  }
  const Result<TuningTable> read = read_table(table_path);
  if (!read) return read.status();
  return LoadedIndex{TuningIndex(*read, sources), false};
}

Status write_index(const std::string& table_path, const TuningTable& table, const TableStamp& stamp,
                   std::string_view sources) {
  return write_whole_file(index_path(table_path), to_bytes(TuningIndex(table, sources), stamp, sources));
}

}  // namespace quarry::detail
