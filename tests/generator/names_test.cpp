/// Names of configs against the table that was generated from them.
#include <algorithm>
#include <random>
#include <set>

#include "config_text.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/common/row.hpp"
#include "quarry/tensor.hpp"
#include "registry/compile/precompiled.hpp"
#include "support/catch_compat.hpp"
#include "support/config_values.hpp"

using namespace quarry;

namespace {

const ConfigSpace& space_of(std::string_view family) {
  for (const ConfigSpace* space : config_spaces()) {
    if (space->family == family) return *space;
  }
  FAIL("no family " << family);
  std::abort();
}

}  // namespace

TEST_CASE("a family has the name of its folder, or a message says what must agree", "[generator]") {
  REQUIRE(family_folders().size() == config_spaces().size());
  for (std::size_t i = 0; i < config_spaces().size(); ++i)
    CHECK(folder_fault(family_folders()[i], *config_spaces()[i]) == "");
  const std::string fault = folder_fault("gemm_simd", space_of("gemm_simt"));
  CHECK(fault ==
        "kernels/gemm_simd/space.cpp: the family calls itself `gemm_simt`, expected `gemm_simd`: folder, "
        "namespace, name in space.cpp and `family` of space.json must agree");
}

TEST_CASE("every row's name is parsed back into its config", "[generator]") {
  REQUIRE(detail::rows().size() >= 2000);
  for (const detail::Row& row : detail::rows()) {
    const ConfigSpace& space = space_of(row.metadata.family);
    const Result<SettingValues> values = parse_config_name(space, row.metadata.name);
    INFO(row.metadata.name);
    REQUIRE(values);
    CHECK(config_name(space, *values) == row.metadata.name);
    CHECK(kernel_fault(space, *values) == "");
    const SettingValues entry = space.entry(*values);
    CHECK(config_name(space, entry) == detail::entries()[row.entry].name);
    const bool shares_code = is_product(row.metadata.operation) && entry != *values;
    // One that copies operands first runs another config's code in either orientation.
    const DesignMetadata& design = row.metadata.design;
    const bool copies = design.reorders && design.orientation != Orientation::exchanged;
    CHECK(row.exchanged == (shares_code && !copies));
    CHECK(space.entry(entry) == entry);
    CHECK(space.values(row.entry_config) == entry);  // what the compiler made of the initialiser

    const KernelMetadata described = space.describe(*values, row.metadata.name);
    const OperandsMetadata& operands = row.metadata.operands;
    CHECK(described.operands.a.alignment == operands.a.alignment);
    CHECK(described.design.tile == row.metadata.design.tile);
    CHECK(described.design.shared_memory == row.metadata.design.shared_memory);
    if (row.metadata.operation != Operation::gemm) continue;
    CHECK(test::types_of(*values) ==
          Types{operands.a.dtype, operands.b.dtype, operands.accumulator, operands.out.dtype});
    CHECK(test::layouts_of(*values) == Layouts{operands.a.layout, operands.b.layout, operands.out.layout});
  }
}

TEST_CASE("the table's indexes agree with its rows", "[generator]") {
  const auto rows = detail::rows();
  std::uint32_t next = 0;
  std::uint64_t previous = 0;
  for (const detail::KeyRange& range : detail::key_ranges()) {
    CHECK(range.begin == next);
    CHECK(range.begin < range.end);
    CHECK(range.key > previous);
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
      CHECK(detail::functional_key(rows[i].metadata) == range.key);
    }
    next = range.end;
    previous = range.key;
  }
  CHECK(next == rows.size());

  const auto is_order = [](auto order, std::size_t size, auto name) {
    CHECK(std::set<std::uint32_t>(order.begin(), order.end()).size() == size);
    CHECK(order.size() == size);
    CHECK(std::ranges::is_sorted(order, {}, name));
  };
  is_order(detail::rows_by_name(), rows.size(), [&](std::uint32_t i) { return rows[i].metadata.name; });
  is_order(detail::entries_by_name(), detail::entries().size(),
           [](std::uint32_t i) { return detail::entries()[i].name; });
}

TEST_CASE("precompiled entries have a unit with code and a report, others neither", "[generator]") {
  const auto units = detail::units();
  for (const detail::Unit& unit : units) {
    CHECK(unit.end - unit.begin > 100);
    CHECK(reinterpret_cast<std::uintptr_t>(unit.begin) % 16 == 0);
  }
  CHECK(detail::precompiled_targets().empty() == units.empty());
  for (std::uint32_t i = 0; i < detail::entries().size(); ++i) {
    const detail::Entry& entry = detail::entries()[i];
    INFO(entry.name);
    CHECK(entry.unit < static_cast<std::int32_t>(units.size()));
    const bool only_90 = entry.name.find("_sm90_") != std::string_view::npos;
    for (const int cc : detail::precompiled_targets()) {
      const int registers = detail::resources(i, cc).registers;
      const bool compiled = entry.unit >= 0 && (cc == 90 || !only_90);
      CHECK(detail::precompiled_target(i, cc) == (compiled ? cc : 0));
      CHECK((compiled ? registers > 0 && registers <= 255 : registers == 0));
    }
    CHECK(detail::resources(i, 75).registers == 0);
  }
}

TEST_CASE("a text is a config's name or it is refused", "[generator]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto rows = detail::rows();
  constexpr std::string_view letters = "_x0123456789abcdefghilmnoprstvw";
  for (int i = 0; i < 20'000; ++i) {
    const KernelMetadata& kernel = rows[random() % rows.size()].metadata;
    std::string name(kernel.name);
    for (auto damages = random() % 3; damages > 0; --damages) {
      const std::size_t at = random() % name.size();
      if (random() % 2 == 0) name.erase(at, random() % 3);
      name.insert(std::min(at, name.size()), 1, letters[random() % letters.size()]);
    }
    const ConfigSpace& space = space_of(kernel.family);
    const Result<SettingValues> values = parse_config_name(space, name);
    CAPTURE(name);
    if (values) {
      CHECK(config_name(space, *values) == name);
      kernel_fault(space, *values);  // any config can be asked, without overflow
    } else {
      CHECK(values.status().code() == StatusCode::parse_error);
      CHECK(name != kernel.name);
    }
  }
}

TEST_CASE("words stand in names where they are not the usual ones", "[generator]") {
  const ConfigSpace& space = space_of("gemm_sm90");
  const auto with = [&](Schedule schedule, CopyEngine engine, Orientation orientation) {
    SettingValues values = test::values_of(Types{DType::bf16, DType::bf16, DType::f32, DType::bf16},
                                           Layouts{Layout::row, Layout::column, Layout::row});
    values.insert(values.end(), {{128, 256, 64},
                                 {2, 1},
                                 {4},
                                 {static_cast<int>(schedule)},
                                 {static_cast<int>(engine)},
                                 {static_cast<int>(orientation)},
                                 {static_cast<int>(Math::exact)},
                                 {8, 8},
                                 {static_cast<int>(ScaleSupport::none)},
                                 {0}});  // one group along K
    return values;
  };
  const std::string begin = "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_";
  const std::string schedules[] = {"cooperative", "ping_pong", "one_tile"};
  const std::string engines[] = {"", "_cp_async"};
  const std::string orientations[] = {"", "_exchanged"};
  for (int i = 0; i < 12; ++i) {
    const SettingValues values = with(static_cast<Schedule>(i % 3), static_cast<CopyEngine>(i / 3 % 2),
                                      static_cast<Orientation>(i / 6));
    const std::string name = begin + schedules[i % 3] + engines[i / 3 % 2] + orientations[i / 6] + "_a8x8";
    CHECK(config_name(space, values) == name);
    const Result<SettingValues> parsed = parse_config_name(space, name);
    INFO(name);
    REQUIRE(parsed);
    CHECK(*parsed == values);
  }
}

TEST_CASE("a name with wrong words is refused where it is wrong", "[generator]") {
  const ConfigSpace& space = space_of("gemm_sm90");
  const auto refused = [&](const std::string& words, const std::string& key, std::size_t offset) {
    const std::string begin = "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4";
    const std::string name = begin + words;
    const Result<SettingValues> values = parse_config_name(space, name);
    INFO(name);
    REQUIRE(!values);
    const std::string message = values.status().message();
    INFO(message);
    CHECK_THAT(message, Catch::Contains("expected `" + key + "`"));
    const std::size_t byte = begin.size() + offset;
    const std::string place = byte == name.size() ? "at the end" : "at byte " + std::to_string(byte) + ":";
    CHECK_THAT(message, Catch::Contains(place));
  };
  refused("", "schedule", 0);
  refused("_a8x8", "schedule", 1);
  refused("_ping", "schedule", 1);
  refused("_ping_pon_a8x8", "schedule", 1);
  refused("_ping_pongs_a8x8", "schedule", 1);
  refused("_pingpong_a8x8", "schedule", 1);
  refused("_tma_a8x8", "schedule", 1);
  refused("_ping_pong", "alignment", 10);
  refused("_ping_pong_", "alignment", 11);
  refused("_one_tile_tma_a8x8", "alignment", 10);  // the usual one is not said
  refused("_one_tile_direct_a8x8", "alignment", 10);
  refused("_one_tile_cp_async_direct_a8x8", "alignment", 19);
  refused("_one_tile_cp_asyncs_a8x8", "alignment", 10);
  refused("_one_tile_exchanged_cp_async_a8x8", "alignment", 20);  // in the wrong order
  refused("_one_tile_one_tile_a8x8", "alignment", 10);
}

TEST_CASE("a wrong name is refused where it is wrong", "[generator]") {
  const ConfigSpace& space = space_of("gemm_sm80");
  const auto message = [&](std::string_view name) {
    const Result<SettingValues> values = parse_config_name(space, name);
    REQUIRE(!values);
    return values.status().message();
  };
  CHECK_THAT(message("gemm_simt_f32"), Catch::Contains("`gemm_sm80`"));
  CHECK_THAT(message("gemm_sm80_f16_f16_f32_f16_rcx_128x128x32_w2x2x1_s4_a8x8"),
             Catch::Contains("`layouts`"));
  CHECK_THAT(message("gemm_sm80_f16_f16_f32_f16_rcr_128x0128x32_w2x2x1_s4_a8x8"), Catch::Contains("`tile`"));
  CHECK_THAT(message("gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s4"), Catch::Contains("`alignment`"));
  CHECK_THAT(message("gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s4_a8x8_x"),
             Catch::Contains("the end"));
  CHECK_THAT(message("gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s99999999999_a8x8"),
             Catch::Contains("`stages`"));
  CHECK_THAT(message(""), Catch::Contains("`gemm_sm80`"));
}
