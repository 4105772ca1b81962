/// The list of metadata fields: complete, findable by its paths, and documented.
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "lab/docs/fields_page.hpp"
#include "registry/metadata/fields.hpp"
#include "support/catch_compat.hpp"

namespace quarry::detail {
namespace {

/// A kernel whose values all differ, as far as their types allow.
KernelMetadata full_kernel() {
  KernelMetadata k;
  k.name = "the_name";
  k.family = "the_family";
  k.cc = 80;
  k.max_cc = 90;
  k.operands = {{DType::f16, Layout::row, 1},
                {DType::bf16, Layout::column, 2},
                {DType::f64, Layout::row, 4},
                {DType::s8, Layout::column, 16},
                DType::s32,
                ScaleSupport::vector_scales};
  k.design.tile = {128, 256, 32};
  k.design.warps = Extent3{3, 5, 7};
  k.design.stages = 9;
  k.design.cluster = Cluster{2, 4};
  k.design.schedule = Schedule::ping_pong;
  k.design.copy_engine = CopyEngine::cp_async;
  k.design.orientation = Orientation::exchanged;
  k.design.iterator = WindowIterator::optimized;
  k.design.strides = WindowStrides::strided;
  k.design.filter = WindowFilter::one;
  k.design.reorders = true;
  k.design.instruction = Extent3{11, 13, 17};
  k.design.math = Math::fast_f32;
  k.design.math_unit = MathUnit::tensor_core;
  k.direction = Direction::dgrad;
  k.design.threads = 192;
  k.design.shared_memory = 4096;
  k.epilogue.bias = true;
  k.epilogue.scale = true;
  k.epilogue.aux = true;
  k.epilogue.fast_clamp = true;
  k.modes.split_k_parallel = true;
  k.modes.stream_k = true;
  k.modes.array = true;
  return k;
}

const Field& field(std::string_view path) {
  const auto found = find_field(path);
  INFO(path);
  REQUIRE(found);
  return **found;
}

TEST_CASE("Every member of the metadata is a field", "[fields]") {
  // These fail to compile when a member is added, which is when the list needs one more.
  const KernelMetadata kernel;
  [[maybe_unused]] const auto& [name, family, operation, direction, cc, max_cc, operands, design, epilogue,
                                modes] = kernel;
  [[maybe_unused]] const auto& [a, b, c, out, accumulator, scales] = operands;
  [[maybe_unused]] const auto& [dtype, layout, alignment] = a;
  [[maybe_unused]] const auto& [tile, warps, stages, cluster, schedule, copy_engine, orientation, iterator,
                                strides, filter, reorders, instruction, math, math_unit, threads,
                                shared_memory] = design;
  [[maybe_unused]] const auto& [activation, bias, scale, residual, aux, clamp, fast_clamp] = epilogue;
  [[maybe_unused]] const auto& [split_k_serial, split_k_parallel, split_k_cluster, stream_k, batched, array] =
      modes;
  [[maybe_unused]] const auto& [m, n, k] = tile;
  // The last one is computed from others: the sum class.
  CHECK(all_fields().size() == 6 + 4 * 3 + 2 + 3 * 3 + 8 + 6 + 7 + 6 + 1);
}

TEST_CASE("Every field shows its value", "[fields]") {
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"name", "the_name"},
      {"family", "the_family"},
      {"operation", "gemm"},
      {"direction", "dgrad"},
      {"cc", "80"},
      {"max_cc", "90"},
      {"operands.a.dtype", "f16"},
      {"operands.a.layout", "row"},
      {"operands.a.alignment", "1"},
      {"operands.b.dtype", "bf16"},
      {"operands.b.layout", "column"},
      {"operands.b.alignment", "2"},
      {"operands.c.dtype", "f64"},
      {"operands.c.layout", "row"},
      {"operands.c.alignment", "4"},
      {"operands.out.dtype", "s8"},
      {"operands.out.layout", "column"},
      {"operands.out.alignment", "16"},
      {"operands.accumulator", "s32"},
      {"operands.scales", "vector_scales"},
      {"design.tile.m", "128"},
      {"design.tile.n", "256"},
      {"design.tile.k", "32"},
      {"design.warps.m", "3"},
      {"design.warps.n", "5"},
      {"design.warps.k", "7"},
      {"design.stages", "9"},
      {"design.cluster.m", "2"},
      {"design.cluster.n", "4"},
      {"design.schedule", "ping_pong"},
      {"design.copy_engine", "cp_async"},
      {"design.orientation", "exchanged"},
      {"design.iterator", "optimized"},
      {"design.strides", "strided"},
      {"design.filter", "one"},
      {"design.reorders", "true"},
      {"design.instruction.m", "11"},
      {"design.instruction.n", "13"},
      {"design.instruction.k", "17"},
      {"design.math", "fast_f32"},
      {"design.math_unit", "tensor_core"},
      {"design.sum_class", "exact"},
      {"design.threads", "192"},
      {"design.shared_memory", "4096"},
      {"epilogue.activation", "false"},
      {"epilogue.bias", "true"},
      {"epilogue.scale", "true"},
      {"epilogue.residual", "false"},
      {"epilogue.aux", "true"},
      {"epilogue.clamp", "false"},
      {"epilogue.fast_clamp", "true"},
      {"modes.split_k_serial", "false"},
      {"modes.split_k_parallel", "true"},
      {"modes.split_k_cluster", "false"},
      {"modes.stream_k", "true"},
      {"modes.batched", "false"},
      {"modes.array", "true"},
  };
  const KernelMetadata kernel = full_kernel();
  std::vector<std::pair<std::string, std::string>> shown;
  for (const Field& each : all_fields()) shown.emplace_back(each.path, value_text(each, kernel));
  CHECK(shown == expected);
}

TEST_CASE("What a kernel lacks is absent", "[fields]") {
  const KernelMetadata nothing;
  std::set<std::string_view> absent;
  for (const Field& each : all_fields()) {
    CHECK(present(each, full_kernel()));
    if (present(each, nothing)) continue;
    absent.insert(shortest_path(each));
    CHECK(value_text(each, nothing).empty());
  }
  CHECK(absent == std::set<std::string_view>{"a.dtype",       "a.layout",      "a.alignment",   "b.dtype",
                                             "b.layout",      "b.alignment",   "c.dtype",       "c.layout",
                                             "c.alignment",   "out.dtype",     "accumulator",   "max_cc",
                                             "stages",        "warps.m",       "warps.n",       "warps.k",
                                             "cluster.m",     "cluster.n",     "schedule",      "copy_engine",
                                             "orientation",   "iterator",      "strides",       "filter",
                                             "instruction.m", "instruction.n", "instruction.k", "direction"});
}

TEST_CASE("Getters and words fit a field's type", "[fields]") {
  for (const Field& each : all_fields()) {
    INFO(each.path);
    CHECK((each.text != nullptr) == (each.type == FieldType::text));
    CHECK((each.number != nullptr) == (each.type != FieldType::text));
    CHECK(each.words.empty() == (each.type != FieldType::word));
    CHECK_FALSE(each.help.empty());
    CHECK_FALSE(each.help.ends_with('.'));
  }
}

/// The ends of a path: "design.tile.m", "tile.m", "m".
std::vector<std::string_view> ends(std::string_view path) {
  std::vector<std::string_view> all = {path};
  for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
    all.push_back(path.substr(dot + 1));
  }
  return all;
}

TEST_CASE("A field goes by every end of its path that is its own", "[fields]") {
  std::map<std::string_view, int> owners;
  for (const Field& each : all_fields()) {
    for (const std::string_view end : ends(each.path)) ++owners[end];
  }
  for (const Field& each : all_fields()) {
    std::string_view shortest = each.path;
    for (const std::string_view end : ends(each.path)) {
      INFO(end);
      CHECK(names_field(end));
      const auto found = find_field(end);
      CHECK(static_cast<bool>(found) == (owners[end] == 1));
      if (!found) continue;
      CHECK(*found == &each);
      shortest = end;
    }
    CHECK(shortest_path(each) == shortest);
  }
}

TEST_CASE("Shortest paths are those of the documents", "[fields]") {
  CHECK(shortest_path(field("design.tile.m")) == "tile.m");
  CHECK(shortest_path(field("operands.a.dtype")) == "a.dtype");
  CHECK(shortest_path(field("design.stages")) == "stages");
  CHECK(shortest_path(field("operands.accumulator")) == "accumulator");
  CHECK(shortest_path(field("name")) == "name");
}

TEST_CASE("An ambiguous path is refused with its candidates", "[fields]") {
  const auto found = find_field("dtype");
  REQUIRE_FALSE(found);
  CHECK(found.status().code() == StatusCode::parse_error);
  CHECK(found.status().message() ==
        "field `dtype` is ambiguous; expected `a.dtype`, `b.dtype`, `c.dtype` or `out.dtype`");
}

TEST_CASE("An unknown path is refused with the nearest ones", "[fields]") {
  const auto found = find_field("stags");
  REQUIRE_FALSE(found);
  CHECK(found.status().code() == StatusCode::not_found);
  CHECK(found.status().message() == "unknown field `stags`; did you mean `stages`?");
  for (const std::string_view path : {"", ".", "m.", ".m", "tile..m", "e.m", "ile.m", "tile.m ", "TILE.M"}) {
    INFO(path);
    CHECK_FALSE(names_field(path));
    CHECK(find_field(path).status().code() == StatusCode::not_found);
  }
}

TEST_CASE("A part is known by the ends of its path", "[fields]") {
  const auto paths = [](std::string_view part) {
    std::vector<std::string_view> found;
    for (const Field* each : find_fields_of(part)) found.push_back(shortest_path(*each));
    return found;
  };
  using Paths = std::vector<std::string_view>;
  CHECK(paths("warps") == Paths{"warps.m", "warps.n", "warps.k"});
  CHECK(paths("design.warps") == Paths{"warps.m", "warps.n", "warps.k"});
  CHECK(paths("a") == Paths{"a.dtype", "a.layout", "a.alignment"});
  CHECK(paths("epilogue") == Paths{"activation", "bias", "scale", "residual", "aux", "clamp", "fast_clamp"});
  CHECK(paths("design").size() == 24);
  CHECK(paths("stages").empty());
  CHECK(paths("").empty());
  CHECK(paths("arps").empty());
}

/// A value as a filter writes it.
std::string written(const FieldValue& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(std::string_view text) const { return std::string(text); }
  };
  return std::visit(Writer(), value);
}

TEST_CASE("Programs see the same fields and values", "[fields]") {
  const auto own = all_fields();
  REQUIRE(metadata_fields().size() == own.size());
  const KernelMetadata kernels[] = {full_kernel(), {}};
  for (const MetadataField& field : metadata_fields()) {
    INFO(field.path);
    const Field& same = own[field.number];
    CHECK(&metadata_fields()[field.number] == &field);
    CHECK((field.path == same.path && field.name == shortest_path(same) && field.help == same.help));
    CHECK((field.type == same.type && field.words.data() == same.words.data()));
    for (const std::string_view path : {field.name, field.path}) {
      const Result<MetadataField> found = find_metadata_field(path);
      REQUIRE(found);
      CHECK(found->number == field.number);
    }
    for (const KernelMetadata& kernel : kernels) {
      const FieldValue value = field_value(field, kernel);
      CHECK(written(value) == value_text(same, kernel));
      CHECK((value.index() != 0) == present(same, kernel));
      if (value.index() != 0) {
        CHECK(std::holds_alternative<bool>(value) == (field.type == FieldType::boolean));
        CHECK(std::holds_alternative<std::int64_t>(value) == (field.type == FieldType::integer));
      }
    }
  }
  CHECK(find_metadata_field("tile.x").status().code() == StatusCode::not_found);
  CHECK(find_metadata_field("dtype").status().code() == StatusCode::parse_error);
}

TEST_CASE("The reference page is up to date", "[fields]") {
  std::ifstream file(QUARRY_SOURCE_DIR "/docs/fields.md", std::ios::binary);
  REQUIRE(file);
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  CHECK(page == lab::fields_page());
}

}  // namespace
}  // namespace quarry::detail
