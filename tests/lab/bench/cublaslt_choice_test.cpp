// The names of cuBLASLt's numbers: all of them, beside the header where it is installed.
#include "lab/bench/cublaslt_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <regex>
#include <set>

#include "basic/read_file.hpp"
#include "lab/bench/result.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab;

namespace {

using Text = std::string (*)(std::uint32_t);

/// An enumeration of cublasLt.h. @see values of CUDA 13.0
struct Names {
  Text text;
  const char* prefix;
  std::uint32_t count;  ///< values from 0
  std::vector<std::uint32_t> gaps;
};
const std::vector<Names>& all() {
  static const std::vector<Names> names = {
      {cublaslt_tile_text, "CUBLASLT_MATMUL_TILE_", 635, {}},
      {cublaslt_stages_text, "CUBLASLT_MATMUL_STAGES_", 39, {29, 30}},
      {cublaslt_cluster_text, "CUBLASLT_CLUSTER_SHAPE_", 52, {1}},
      {cublaslt_inner_shape_text, "CUBLASLT_MATMUL_INNER_SHAPE_", 5, {}},
      {cublaslt_reduction_text, "CUBLASLT_REDUCTION_SCHEME_", 5, {3}},
  };
  return names;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return '0' <= c && c <= '9'; });
}

/// Small letters, and "in_place" for INPLACE.
std::string spelled(std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) { return 'A' <= c && c <= 'Z' ? char(c + 32) : c; });
  return name == "inplace" ? "in_place" : name;
}

}  // namespace

TEST_CASE("every value that cuBLASLt has is named, each otherwise, and others are numbers") {
  for (const Names& names : all()) {
    std::set<std::string> seen;
    for (std::uint32_t value = 0; value < names.count; ++value) {
      INFO(names.prefix << " " << value);
      const bool has_name = std::ranges::find(names.gaps, value) == names.gaps.end();
      const std::string text = names.text(value);
      CHECK(is_number(text) != has_name);
      CHECK(seen.insert(text).second);
    }
    for (const std::uint32_t value : {names.count, names.count + 7, 65535U, 4294967295U})
      CHECK(names.text(value) == std::to_string(value));
  }
  CHECK(cublaslt_tile_text(0) == "undefined");
  CHECK(cublaslt_tile_text(23) == "128x256");
  CHECK(cublaslt_tile_text(634) == "512x1024");
  CHECK(cublaslt_stages_text(16) == "64x4");
  CHECK(cublaslt_stages_text(38) == "768xauto");
  CHECK(cublaslt_cluster_text(0) == "auto");
  CHECK(cublaslt_cluster_text(51) == "1x15x1");
}

TEST_CASE("the names are those of the header") {
  std::string header;
  for (const char* path : {"/usr/local/cuda/include/cublasLt.h", "/usr/local/include/cublasLt.h"}) {
    const Result<std::string> text = detail::read_file(path);
    if (header.empty() && text) header = *text;
  }
  if (header.empty()) return;  // only toolkits have it
  for (const Names& names : all()) {
    const std::regex line(std::string(names.prefix) + "(\\w+)\\s*=\\s*(\\d+)\\s*,");
    std::size_t found = 0;
    for (std::sregex_iterator at(header.begin(), header.end(), line), end; at != end; ++at) {
      if ((*at)[1] == "MASK") continue;
      const auto value = static_cast<std::uint32_t>(std::stoul((*at)[2]));
      const std::string text = names.text(value);
      INFO((*at)[0]);
      CHECK((text == spelled((*at)[1]) || (value >= names.count && is_number(text))));
      ++found;
    }
    INFO(names.prefix);
    CHECK(found + names.gaps.size() >= names.count / 2);  // an older toolkit has fewer
  }
}

TEST_CASE("a choice has its parts, and nothing that is usual") {
  CHECK(choice_text(choice_parts({})) ==
        "algorithm 0, tile undefined, stages undefined, cluster auto, split_k 1");
  const CublasLtChoice all = {.algorithm = 66,
                              .tile = 23,
                              .split_k = 4,
                              .reduction = 2,
                              .swizzle = 1,
                              .custom = 5,
                              .stages = 35,
                              .inner_shape = 4,
                              .cluster = 6};
  CHECK(choice_text(choice_parts(all)) ==
        "algorithm 66, tile 128x256, stages 64xauto, cluster 2x2x1, split_k 4, reduction compute_type, "
        "swizzle 1, inner_shape mma16816, custom 5");
}

TEST_CASE("a choice that the library does not tell is absent") {
  CublasLtFunctions functions = {};
  functions.config_get = [](const CublasLtAlgorithm*, int attribute, void* value, std::size_t bytes,
                            std::size_t*) {
    std::fill_n(static_cast<unsigned char*>(value), bytes, static_cast<unsigned char>(0));
    return attribute == lt_config_cluster ? 7 : 0;
  };
  CHECK_FALSE(read_choice(functions, {}));
}
