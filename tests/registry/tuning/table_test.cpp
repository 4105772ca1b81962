// Tables of measurements: their text, and their union.
#include "registry/tuning/table.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"
#include "support/random_measurement.hpp"

namespace {

using namespace quarry;
using detail::LineVerdict;
using detail::Measurement;
using detail::TuningTable;
using test::Random;

LineVerdict verdict_of(const std::string& line) {
  detail::IdentifiedMeasurement read;
  return detail::read_line(line, read);
}

/// A line with another version, whose id is still the digest of the rest.
std::string of_version(std::string line, const std::string& version) {
  return line.replace(line.find(":1,") + 1, 1, version);
}

}  // namespace

TEST_CASE("a measurement that was written is read as it was") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 300; ++i) {
    const Measurement written = test::random_measurement(random);
    REQUIRE(detail::is_writable(written));
    detail::IdentifiedMeasurement read;
    REQUIRE(detail::read_line(detail::to_line(written), read) == LineVerdict::read);
    REQUIRE(read.measurement == written);
    REQUIRE(read.id == detail::id_of(written));
    REQUIRE(detail::to_line(read.measurement) == detail::to_line(written));
  }
}

TEST_CASE("a line that was changed, cut or is foreign is damaged, one of a later version is not") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const std::string line = detail::to_line(test::random_measurement(random));
  for (std::size_t size = 0; size < line.size(); ++size) {
    REQUIRE(verdict_of(line.substr(0, size)) == LineVerdict::damaged);
  }
  for (int i = 0; i < 500; ++i) {
    std::string changed = line;
    char& c = changed[random() % changed.size()];
    const char before = c;
    c = static_cast<char>(random() % 256);
    if (c == before) continue;
    INFO(changed);
    // A digit of the version makes it a later one. The last digit of a time may change without the number.
    detail::IdentifiedMeasurement read;
    if (detail::read_line(changed, read) == LineVerdict::read) {
      REQUIRE(detail::to_line(read.measurement) == line);
    }
  }
  CHECK(verdict_of(of_version(line, "2")) == LineVerdict::future);
  CHECK(verdict_of(of_version(line, "99")) == LineVerdict::future);
  for (const std::string text : {"{\"quarry_tuning\":2,\"problem\":{\"operation\":\"gemm\"}}",
                                 "{\"quarry_tuning\":2,\"name\":\"a \\\"b\\\"\"}", "{\"quarry_tuning\":3"}) {
    CHECK(verdict_of(text) == LineVerdict::future);
    CHECK(verdict_of(text + std::string(5000, 'x')) == LineVerdict::future);
  }
  CHECK(verdict_of("{\"quarry_tuning\":99999999999999999999}") == LineVerdict::damaged);
  CHECK(verdict_of(of_version(line, "0")) == LineVerdict::damaged);
  CHECK(verdict_of(of_version(line, "-1")) == LineVerdict::damaged);
  for (const char* foreign : {"{}", "[]", "null", "1", "{\"m\":1}", "\xff\xfe", "{\"quarry_tuning\":\"1\"}",
                              "{\"quarry_tuning\":1}", "hello"}) {
    CHECK(verdict_of(foreign) == LineVerdict::damaged);
  }
  CHECK(verdict_of(std::string(1 << 20, '[')) == LineVerdict::damaged);
  CHECK(verdict_of(line + std::string(1 << 20, ' ')) == LineVerdict::damaged);
}

TEST_CASE("what no line can hold is not writable") {
  Random random(1);
  const Measurement good = test::random_measurement(random);
  const auto refused = [&](auto change) {
    Measurement bad = good;
    change(bad);
    return !detail::is_writable(bad);
  };
  CHECK(refused([](Measurement& m) { m.device.clear(); }));
  CHECK(refused([](Measurement& m) { m.device = "a\"b"; }));
  CHECK(refused([](Measurement& m) { m.problem = "a\nb"; }));
  CHECK(refused([](Measurement& m) { m.problem = std::string(2000, 'a'); }));
  CHECK(refused([](Measurement& m) { m.kernel = "k\\"; }));
  CHECK(refused([](Measurement& m) { m.above = m.key.m; }));
  CHECK(refused([](Measurement& m) { m.key.m = -1; }));
  CHECK(refused([](Measurement& m) { m.gaps_us = {3, 2, 1}; }));
  CHECK(refused([](Measurement& m) { m.gaps_us = {0, 1, 2}; }));
  CHECK(refused([](Measurement& m) { m.load_us = {1, 2, std::numeric_limits<double>::infinity()}; }));
  CHECK(refused([](Measurement& m) { m.gaps_us[1] = std::numeric_limits<double>::quiet_NaN(); }));
  CHECK(refused([](Measurement& m) { m.controls.multiprocessors = 3; }));
  CHECK(refused([](Measurement& m) { m.controls.split_k_slices = 0; }));
}

TEST_CASE("the union of tables is commutative, associative and idempotent") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 30; ++i) {
    const auto all = test::random_measurements(random, 60);
    const auto part = [&] {
      std::vector<Measurement> some;
      for (const Measurement& each : all) {
        if (test::coin(random)) some.push_back(each);
      }
      std::shuffle(some.begin(), some.end(), random);
      return test::table_of(some);
    };
    const TuningTable a = part();
    const TuningTable b = part();
    const TuningTable c = part();
    const auto joined = [](TuningTable one, const TuningTable& other) {
      one.join(other);
      return one;
    };
    REQUIRE(joined(a, b).text() == joined(b, a).text());
    REQUIRE(joined(joined(a, b), c).text() == joined(a, joined(b, c)).text());
    REQUIRE(joined(a, a).text() == a.text());
    TuningTable read;
    read.read(a.text() + b.text());
    REQUIRE(read.text() == joined(a, b).text());
    REQUIRE(read.damaged() == 0);
  }
}

TEST_CASE("lines that cannot be read are counted and skipped") {
  Random random(2);
  const auto all = test::random_measurements(random, 3);
  const std::string first = detail::to_line(all[0]);
  TuningTable table;
  table.read("\n  \r\n" + first + "\r\nhello\n" + of_version(detail::to_line(all[1]), "7") + "\n" +
             detail::to_line(all[2]).substr(0, 50));
  CHECK(table.size() == 1);
  CHECK(table.damaged() == 2);
  CHECK(table.future() == 1);
}

TEST_CASE("lines of a later version stay as they are, each once") {
  Random random(3);
  const std::string own = detail::to_line(test::random_measurement(random)) + "\n";
  const std::string later[] = {"{\"quarry_tuning\":2,\"problem\":{\"operation\":\"gemm\"}}\n",
                               "{\"quarry_tuning\":5,\"name\":\"" + std::string(9000, 'x') + "\"}\n"};
  TuningTable one;
  one.read(later[1] + own + later[0] + later[1]);
  CHECK(one.future() == 2);
  CHECK(one.damaged() == 0);
  CHECK(one.text() == own + later[0] + later[1]);
  TuningTable other;
  other.read(later[1]);
  other.join(one);
  CHECK(other.text() == one.text());
}
