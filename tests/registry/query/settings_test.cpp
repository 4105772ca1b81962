/// Lists of settings by member pointer, and what derives from the families' lists.
#include "settings.hpp"

#include <map>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/quarry.hpp"
#include "registry/operation.hpp"
#include "registry/query/config_reader.hpp"
#include "support/catch_compat.hpp"
#include "support/random_config.hpp"

using namespace quarry;
using detail::FamilySides;

namespace {

struct Small {
  Alignment alignment;
  DType type;
  int m;
  int n;
  Math math = Math::exact;
  Schedule schedule = Schedule::stream_k;
  friend constexpr bool operator==(const Small&, const Small&) = default;
};

using Listed = ConfigSetting<Small>;

constexpr Listed type = setting<&Small::type>("type");
constexpr Listed alignment = setting<&Small::alignment>("alignment", "a");
constexpr Listed extent = pair_setting<&Small::m, &Small::n>("extent");
constexpr Listed math = word_setting<&Small::math>("math", Math::exact);
constexpr Listed schedule =
    word_setting<&Small::schedule, Schedule::stream_k, Schedule::one_tile>("schedule", Schedule::stream_k);

/// In another order than the members.
constexpr auto small = settings_of<Small>({type, math, schedule, extent, alignment});

template <std::size_t count>
constexpr std::string_view fault_of(const std::array<Listed, count>& list) {
  return list_fault<Small>(list);
}

Small random_small(test::Random& random) {
  return {.alignment = {test::between(random, 1, 16), test::between(random, 1, 16)},
          .type = static_cast<DType>(random() % 8),
          .m = test::between(random, 1, 1024),
          .n = test::between(random, 1, 1024),
          .math = static_cast<Math>(random() % 5),
          .schedule = test::coin(random) ? Schedule::one_tile : Schedule::stream_k};
}

/// The numbers and enumerators of an initialiser, one after another.
std::vector<std::string> leaves_of(std::string_view literal) {
  std::vector<std::string> leaves;
  while (!literal.empty()) {
    const std::size_t length = std::min(literal.find_first_of("{}, "), literal.size());
    if (length > 0) {
      const std::string_view leaf = literal.substr(0, length);
      const std::size_t scope = leaf.rfind(':');
      leaves.emplace_back(leaf.substr(scope == leaf.npos ? 0 : scope + 1));
    }
    literal.remove_prefix(std::min(length + 1, literal.size()));
  }
  return leaves;
}

/// The settings of each family in the order of its config's members.
const std::map<std::string_view, std::vector<std::string_view>> member_order = {
    {"gemm_simt",
     {"a", "b", "accumulator", "out", "layouts", "tile", "thread", "scales", "stages", "vector"}},
    {"gemm_sm80",
     {"a", "b", "accumulator", "out", "layouts", "tile", "warps", "stages", "alignment", "math",
      "instruction", "epilogue", "schedule", "scales"}},
    {"gemm_sm90",
     {"a", "b", "accumulator", "out", "layouts", "tile", "cluster", "stages", "schedule", "copy_engine",
      "orientation", "alignment", "math", "scales", "k_groups"}},
    {"reduce_split_k", {"partials", "out", "layout"}},
    {"reorder_matrix", {"type"}},
    {"elementwise", {"elements", "vectors"}},
    {"conv2d_sm90",
     {"direction", "a", "b", "accumulator", "out", "tile", "cluster", "stages", "schedule", "strides",
      "layout"}},
    {"conv2d_sm80",
     {"direction", "a", "b", "accumulator", "out", "tile", "warps", "stages", "iterator", "alignment", "math",
      "strides", "filter", "layout"}},
    {"conv2d_simt", {"direction", "a", "b", "accumulator", "out", "tile", "thread", "layout"}},
    {"grouped_gemm_sm90",
     {"a", "b", "accumulator", "out", "layouts", "tile", "cluster", "stages", "schedule", "alignment",
      "scales"}},
    {"grouped_gemm_sm80",
     {"a", "b", "accumulator", "out", "layouts", "tile", "warps", "stages", "alignment", "scales"}},
    {"grouped_gemm_simt", {"a", "b", "accumulator", "out", "layouts", "tile", "thread", "scales"}},
    {"gemm_narrow_sm80",
     {"a", "b", "accumulator", "out", "layouts", "tile", "warps", "stages", "scales", "loads"}},
    {"gemm_list_sm80",
     {"a", "b", "accumulator", "out", "layouts", "tile", "warps", "stages", "alignment", "scales"}},
    {"gemm_list_sm90",
     {"a", "b", "accumulator", "out", "layouts", "tile", "cluster", "stages", "schedule", "alignment",
      "scales"}},
    {"gemm_list_simt", {"a", "b", "accumulator", "out", "layouts", "tile", "thread", "scales"}}};

/// The leaves of one setting's part of an initialiser.
std::vector<std::string> leaves_of(const Setting& setting, const SettingValue& value) {
  if (setting.kind == SettingKind::dtype) return {std::string(to_string(static_cast<DType>(value[0])))};
  if (setting.key == "layout")
    return {std::string(to_string(value[0] == 0 ? Layout::row : Layout::column_interleaved32))};
  if (setting.kind == SettingKind::word)
    return {std::string(setting.words[static_cast<std::size_t>(value[0])])};
  std::vector<std::string> leaves;
  for (std::size_t i = 0; i < width(setting.kind); ++i) {
    leaves.push_back(setting.kind == SettingKind::layouts
                         ? std::string(to_string(static_cast<Layout>(value[i])))
                         : std::to_string(value[i]));
  }
  return leaves;
}

}  // namespace

TEST_CASE("a list of settings says what is wrong with it", "[settings]") {
  STATIC_REQUIRE(fault_of(small).empty());
  STATIC_REQUIRE(fault_of(std::array{type, math, schedule, extent, alignment, alignment}) ==
                 "two settings have one key");
  constexpr Listed same_key = setting<&Small::alignment>("math");
  STATIC_REQUIRE(fault_of(std::array{type, math, schedule, extent, same_key}) == "two settings have one key");
  constexpr Listed same_member = setting<&Small::alignment>("alignments");
  STATIC_REQUIRE(fault_of(std::array{type, math, schedule, extent, alignment, same_member}) ==
                 "two settings are one member");
  STATIC_REQUIRE(fault_of(std::array{type, math, schedule, extent}) ==
                 "a member of the config has no setting");
  constexpr Listed part = setting<&Small::alignment, &Alignment::a>("align_a");
  STATIC_REQUIRE(fault_of(std::array{type, math, schedule, extent, part}) ==
                 "a member is not named as a whole");
  constexpr Listed unusual = word_setting<&Small::math>("math", Math::fast_tf32);
  STATIC_REQUIRE(fault_of(std::array{type, unusual, schedule, extent, alignment}) ==
                 "what is unsaid is not what the member is by itself");
  constexpr Listed nameless = setting<&Small::type>("");
  constexpr Listed family = setting<&Small::type>("family");
  for (const Listed& wrong : {nameless, family}) {
    CHECK(fault_of(std::array{wrong, math, schedule, extent, alignment}) == "a setting has a key of its own");
  }
  constexpr Listed other = setting<&Small::alignment, &Alignment::b>("align_b");
  STATIC_REQUIRE(fault_of(std::array{type, math, schedule, extent, part, other}).empty());
}

TEST_CASE("a config and the values of its settings are one", "[settings]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 1000; ++i) {
    const Small config = random_small(random);
    const SettingValues values = values_of(small, config);
    CHECK(config_of(small, values) == config);
    CHECK(values == SettingValues{{static_cast<int>(config.type)},
                                  {static_cast<int>(config.math)},
                                  {config.schedule == Schedule::stream_k ? 0 : 1},
                                  {config.m, config.n},
                                  {config.alignment.a, config.alignment.b}});
  }
}

TEST_CASE("an initialiser goes by members, and leaves out what it may at the end", "[settings]") {
  Small config = {.alignment = {8, 4}, .type = DType::f16, .m = 64, .n = 32};
  CHECK(literal_of(small, config) == "{{8, 4}, quarry::DType::f16, 64, 32}");
  config.math = Math::fast_tf32;
  CHECK(literal_of(small, config) == "{{8, 4}, quarry::DType::f16, 64, 32, quarry::Math::fast_tf32}");
  config.math = Math::exact;
  config.schedule = Schedule::one_tile;
  CHECK(literal_of(small, config) ==
        "{{8, 4}, quarry::DType::f16, 64, 32, quarry::Math::exact, quarry::Schedule::one_tile}");
}

TEST_CASE("name, JSON and values of random configs are one", "[settings]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (const FamilySides& family : detail::families()) {
    const ConfigSpace& space = *family.space;
    for (int i = 0; i < 1000; ++i) {
      const SettingValues values = test::random_values(random, space);
      const std::string name = config_name(space, values);
      INFO(name);
      const Result<SettingValues> parsed = parse_config_name(space, name);
      REQUIRE(parsed);
      CHECK(*parsed == values);
      for (const std::string& text : {name, test::json_of(random, space, values)}) {
        const Result<detail::FamilyConfig> read = detail::read_config(text);
        INFO(text);
        REQUIRE(read);
        CHECK(read->family == &family);
        CHECK(read->values == values);
      }
      const SettingValues entry = space.entry(values);
      CHECK(space.entry(entry) == entry);
      if (space.mirrored == nullptr) continue;
      const SettingValues mirrored = space.mirrored(values);
      CHECK(mirrored != values);
      CHECK(space.mirrored(mirrored) == values);
      CHECK(space.entry(mirrored) == entry);
      CHECK(space.fault(mirrored).empty() == space.fault(values).empty());
    }
  }
}

TEST_CASE("initialisers of random configs hold the values of their settings in the members' order",
          "[settings]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (const FamilySides& family : detail::families()) {
    const ConfigSpace& space = *family.space;
    const std::vector<std::string_view>& order = member_order.at(space.family);
    REQUIRE(order.size() == space.settings.size());
    for (int i = 0; i < 1000; ++i) {
      const SettingValues values = test::random_values(random, space);
      std::vector<std::string> expected;
      std::size_t needed = 0;  // up to the last that is not what it is unsaid
      for (const std::string_view key : order) {
        const auto found = std::ranges::find(space.settings, key, &Setting::key);
        REQUIRE(found != space.settings.end());
        const SettingValue& value = values[static_cast<std::size_t>(found - space.settings.begin())];
        for (const std::string& leaf : leaves_of(*found, value)) expected.push_back(leaf);
        if (found->unsaid != value[0]) needed = expected.size();
      }
      expected.resize(needed);
      const std::string literal = space.literal(values);
      INFO(literal);
      CHECK(leaves_of(literal) == expected);
      CHECK(std::ranges::count(literal, '{') == std::ranges::count(literal, '}'));
    }
  }
}

namespace {

const ConfigSpace& simt_space() {
  for (const FamilySides& family : detail::families()) {
    if (family.space->family == "gemm_simt") return *family.space;
  }
  FAIL("no family gemm_simt");
  std::abort();
}

/// Why there can be no such kernel of gemm_simt, "" where there can.
std::string simt_fault(std::string_view name) {
  const Result<SettingValues> values = parse_config_name(simt_space(), name);
  REQUIRE(values);
  return kernel_fault(simt_space(), *values);
}

}  // namespace

TEST_CASE("a number that is unsaid is left out of a name, and read back", "[settings]") {
  const ConfigSpace& space = simt_space();
  const auto stages = std::ranges::find(space.settings, "stages", &Setting::key);
  REQUIRE(stages != space.settings.end());
  const auto at = static_cast<std::size_t>(stages - space.settings.begin());
  const auto stages_of = [&](std::string_view name) {
    const Result<SettingValues> values = parse_config_name(space, name);
    INFO(name);
    REQUIRE(values);
    CHECK(config_name(space, *values) == name);
    return (*values)[at][0];
  };
  const std::string name = "gemm_simt_f32_f32_f32_f32_rcr_128x128x8_t8x8";
  CHECK(stages_of(name) == 2);
  CHECK(stages_of(name + "_s4") == 4);
  CHECK(stages_of(name + "_block_scales") == 2);
  for (const char* wrong : {"_s", "_sx", "_s4x4", "_4", "_s4_s5", "_s2"}) {
    INFO(wrong);
    const Result<SettingValues> values = parse_config_name(space, name + wrong);
    CHECK_FALSE(values);
  }
}

TEST_CASE("gemm_simt says which configs cannot have several stages", "[settings]") {
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcr_128x128x8_t8x8_s3") == "");
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcr_128x128x8_t8x8_s1").find("one stage") == 0);
  CHECK(simt_fault("gemm_simt_f16_f16_f32_f16_rcr_128x128x8_t8x8_s4").find("copied asynchronously are f32") !=
        std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcr_128x128x8_t8x8_s4_block_scales").find("two stages") !=
        std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcr_128x128x7_t8x8_s4").find("even along K") !=
        std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rrr_128x128x2_t8x8_s4").find("4 at least") !=
        std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcr_64x160x8_t8x5_s4").find("even number of columns") !=
        std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcr_16x64x16_t8x4_s4") == "");
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcr_24x256x8_t8x4_s4").find("4 x 8") != std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rrr_96x64x8_t8x8_s4").find("evenly") != std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcr_32x32x64_t4x4_s4").find("evenly") != std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rrr_16x256x32_t8x8_s4").find("more than 32") !=
        std::string::npos);
}

TEST_CASE("gemm_simt copies vectors of operands that lie along M or N", "[settings]") {
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_crr_128x128x8_t8x8_s4_v2").find("one element or four") !=
        std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_crr_128x128x8_t8x8_v4").find("one element at a time") !=
        std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcr_128x128x8_t8x8_s4_v4").find("no operand lies") !=
        std::string::npos);
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_rcc_128x128x8_t8x8_s4_v4").find("no operand lies") !=
        std::string::npos);
  // 64 threads would have half a vector each of A's 16 rows.
  CHECK(simt_fault("gemm_simt_f32_f32_f32_f32_ccr_16x128x8_t8x4_s4_v4").find("no operand lies") !=
        std::string::npos);

  struct Aligned {
    std::string_view name;
    int a;
    int b;
  };
  for (const Aligned& expected : {Aligned{"crr_128x128x8_t8x8_s4_v4", 4, 4},
                                  {"rrr_128x128x8_t8x8_s4_v4", 1, 4},
                                  {"ccr_128x128x8_t8x8_s4_v4", 4, 1},
                                  {"crr_16x128x8_t8x4_s4_v4", 1, 4},
                                  {"crc_128x16x8_t4x8_s4_v4", 4, 1},
                                  {"crr_128x128x8_t8x8_s4", 1, 1}}) {
    INFO(expected.name);
    const Result<Kernel> kernel = make_kernel("gemm_simt_f32_f32_f32_f32_" + std::string(expected.name));
    REQUIRE(kernel);
    CHECK(kernel->metadata().operands.a.alignment == expected.a);
    CHECK(kernel->metadata().operands.b.alignment == expected.b);
  }
}

TEST_CASE("a kernel's own config has the values of its name", "[settings]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 300; ++i) {
    const ConfigSpace& space = test::any_space(random);
    const SettingValues values = test::random_config(random, space);
    const Result<Kernel> kernel = make_kernel(config_name(space, values));
    INFO(config_name(space, values));
    REQUIRE(kernel);
    CHECK(space.values(detail::row_of(*kernel).entry_config) == space.entry(values));
  }
}
