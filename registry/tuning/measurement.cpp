#include "registry/tuning/measurement.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "basic/words.hpp"
#include "quarry/tensor.hpp"
#include "registry/query/flat_json.hpp"
#include "registry/tuning/table.hpp"

namespace quarry::detail {
namespace {

constexpr std::size_t most_name = 63;
constexpr std::size_t most_kernel = 255;
constexpr std::int64_t most_slices = 1 << 20;
constexpr std::int64_t most_workspace = std::int64_t{1} << 50;
constexpr double most_us = 1e12;

bool is_plain(std::string_view text, std::size_t most) {
  if (text.empty() || text.size() > most) return false;
  for (const char c : text) {
    if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') return false;
  }
  return true;
}

bool are_times(const TuningTimes& times) {
  double last = std::numeric_limits<double>::min();
  for (const double us : times) {
    if (!std::isfinite(us) || us < last || us > most_us) return false;
    last = us;
  }
  return true;
}

bool are_controls(const Controls& c) {
  return (!c.mode || *c.mode <= Mode::stream_k) && (!c.raster || *c.raster <= Raster::along_m) &&
         (!c.split_k_slices || (*c.split_k_slices >= 1 && *c.split_k_slices <= most_slices)) &&
         (!c.swizzle || (*c.swizzle >= 1 && *c.swizzle <= 8)) && !c.multiprocessors;
}

template <class Number>
void append_number(std::string& text, Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(digits, end);
}

/// Members behind the id.
class Fields {
 public:
  Fields& text(std::string_view key, std::string_view value) {
    begin(key);
    text_.append("\"").append(value).append("\"");
    return *this;
  }
  Fields& number(std::string_view key, std::int64_t value) {
    begin(key);
    append_number(text_, value);
    return *this;
  }
  Fields& times(std::string_view key, const TuningTimes& times) {
    begin(key);
    char separator = '[';
    for (const double us : times) {
      text_ += separator;
      append_number(text_, us);
      separator = ',';
    }
    text_ += ']';
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  void begin(std::string_view key) { text_.append(",\"").append(key).append("\":"); }

  std::string text_;
};

/// What the id is the digest of.
std::string fields_of(const Measurement& m) {
  Fields fields;
  fields.text("device", m.device).text("sources", m.sources).text("operation", m.operation);
  fields.text("problem", m.problem).text("key", to_hexadecimal(m.key.digest)).number("m", m.key.m);
  fields.number("above", m.above).text("kernel", m.kernel);
  const Controls& c = m.controls;
  if (c.mode) fields.text("mode", to_string(*c.mode));
  if (c.split_k_slices) fields.number("split_k", *c.split_k_slices);
  if (c.swizzle) fields.number("swizzle", *c.swizzle);
  if (c.raster) fields.text("raster", to_string(*c.raster));
  fields.number("workspace", static_cast<std::int64_t>(m.workspace)).times("gaps_us", m.gaps_us);
  if (m.load_us) fields.times("load_us", *m.load_us);
  return fields.number("at", m.at).take();
}

/// Takes values out of a line. After the first that is missing or wrong, nothing is good.
class Values {
 public:
  explicit Values(std::span<const JsonMember> members) : members_(members) {}

  bool good() const { return good_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }

  std::string_view text(std::string_view key) {
    const JsonMember* const member = find(key);
    if (require(member != nullptr && member->value.kind == JsonKind::string)) return member->value.text;
    return {};
  }
  std::int64_t number(std::string_view key) {
    const JsonMember* const member = find(key);
    if (require(member != nullptr && member->value.kind == JsonKind::integer)) return member->value.number;
    return 0;
  }
  int small_number(std::string_view key) {
    const std::int64_t value = number(key);
    require(value >= 0 && value <= std::numeric_limits<int>::max());
    return good_ ? static_cast<int>(value) : 0;
  }
  Digest digest(std::string_view key) {
    const std::optional<Digest> value = parse_digest(text(key));
    return require(value.has_value()) ? *value : Digest();
  }
  std::size_t word(std::string_view key, std::span<const std::string_view> words) {
    const std::optional<std::size_t> value = value_of(words, text(key));
    return require(value.has_value()) ? *value : 0;
  }
  TuningTimes times(std::string_view key) {
    TuningTimes times = {};
    const JsonMember* const member = find(key);
    if (!require(member != nullptr && member->value.elements.size() == times.size())) return times;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const std::string_view text = member->value.elements[i].text;
      const auto end = std::from_chars(text.data(), text.data() + text.size(), times[i]);
      require(end.ec == std::errc() && end.ptr == text.data() + text.size());
    }
    return times;
  }

 private:
  const JsonMember* find(std::string_view key) const {
    for (const JsonMember& member : members_) {
      if (member.key == key) return &member;
    }
    return nullptr;
  }
  bool require(bool holds) { return good_ = good_ && holds; }

  std::span<const JsonMember> members_;
  bool good_ = true;
};

Measurement measurement_of(Values& values) {
  Measurement m;
  m.device = values.text("device");
  m.sources = values.text("sources");
  m.operation = values.text("operation");
  m.problem = values.text("problem");
  m.key = {values.digest("key"), values.number("m")};
  m.above = values.number("above");
  m.kernel = values.text("kernel");
  if (values.has("mode")) m.controls.mode = static_cast<Mode>(values.word("mode", mode_words));
  if (values.has("split_k")) m.controls.split_k_slices = values.small_number("split_k");
  if (values.has("swizzle")) m.controls.swizzle = values.small_number("swizzle");
  if (values.has("raster")) m.controls.raster = static_cast<Raster>(values.word("raster", raster_words));
  m.workspace = static_cast<std::uint64_t>(values.number("workspace"));
  m.gaps_us = values.times("gaps_us");
  if (values.has("load_us")) m.load_us = values.times("load_us");
  m.at = values.number("at");
  return m;
}

/// Whether a line is of a later version, which may be anything else than what lines are today.
bool is_future(std::string_view line) {
  if (!line.starts_with(line_begin)) return false;
  line.remove_prefix(line_begin.size());
  int version = 0;
  return std::from_chars(line.data(), line.data() + line.size(), version).ec == std::errc() &&
         version > tuning_version;
}

}  // namespace

bool operator==(const Measurement& one, const Measurement& other) {
  return fields_of(one) == fields_of(other);
}

std::string to_line(const Measurement& measurement) {
  const std::string fields = fields_of(measurement);
  std::string line(line_begin);
  append_number(line, tuning_version);
  return line.append(",\"id\":\"").append(to_hexadecimal(digest_of(fields))).append("\"") + fields + "}";
}

Digest id_of(const Measurement& measurement) { return digest_of(fields_of(measurement)); }

bool is_writable(const Measurement& m) {
  const bool texts = is_plain(m.device, most_name) && is_plain(m.sources, most_name) &&
                     is_plain(m.operation, most_name) && is_plain(m.problem, most_problem_bytes) &&
                     is_plain(m.kernel, most_kernel);
  const bool numbers = m.key.m >= 0 && m.key.m <= most_tuned_m && m.above >= -1 && m.above < m.key.m &&
                       m.workspace <= static_cast<std::uint64_t>(most_workspace) && m.at >= 0;
  return texts && numbers && are_controls(m.controls) && are_times(m.gaps_us) &&
         (!m.load_us || are_times(*m.load_us));
}

LineVerdict read_line(std::string_view line, IdentifiedMeasurement& read) {
  if (is_future(line)) return LineVerdict::future;
  const Result<std::vector<JsonMember>> members = read_flat_json(line);
  if (!members) return LineVerdict::damaged;
  Values values(*members);
  const std::int64_t version = values.number("quarry_tuning");
  if (!values.good() || version < 1 || version > std::numeric_limits<int>::max()) return LineVerdict::damaged;
  if (version > tuning_version) return LineVerdict::future;
  read.id = values.digest("id");
  read.measurement = measurement_of(values);
  const bool whole = values.good() && is_writable(read.measurement) && id_of(read.measurement) == read.id;
  return whole ? LineVerdict::read : LineVerdict::damaged;
}

}  // namespace quarry::detail
