#include "lab/bench/result.hpp"

#include <algorithm>

namespace quarry::lab {
namespace {

std::vector<Timing> timings_of(const std::vector<Finalist>& finalists) {
  std::vector<Timing> timings;
  for (const Finalist& each : finalists) timings.push_back(each.timing);
  return timings;
}

}  // namespace

std::optional<Timing> BenchResult::yardstick() const {
  if (algorithms.empty()) return std::nullopt;
  return fastest(timings_of(algorithms));
}

const Finalist* BenchResult::fastest_algorithm() const {
  const auto gaps = [](const Finalist& each) { return each.timing.gaps.median; };
  const auto found = std::ranges::min_element(algorithms, {}, gaps);
  return found == algorithms.end() ? nullptr : &*found;
}

std::optional<Standing> BenchResult::ratio() const {
  const std::optional<Timing> other = yardstick();
  if (!other || kernels.empty()) return std::nullopt;
  return standing(kernels[best].timing, *other);
}

std::optional<Standing> BenchResult::first_ratio() const {
  if (!first) return std::nullopt;
  return standing(kernels[*first].timing, kernels[best].timing);
}

std::optional<Standing> BenchResult::algorithm_first_ratio() const {
  if (!algorithm_first) return std::nullopt;
  return standing(algorithms[*algorithm_first].timing, *yardstick());
}

std::string choice_text(const std::vector<ChoicePart>& choice) {
  std::string text;
  for (const ChoicePart& part : choice) text += (text.empty() ? "" : ", ") + part.name + " " + part.value;
  return text;
}

std::string controls_text(const Controls& controls) {
  std::string text;
  const auto add = [&text](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  const int slices = controls.split_k_slices.value_or(1);
  if (controls.mode == Mode::stream_k) {
    add("stream_k");
  } else if (controls.mode && *controls.mode != Mode::gemm) {
    add(std::string(to_string(*controls.mode)) + " " + std::to_string(slices));
  }
  if (controls.raster && *controls.raster == Raster::along_m) add("raster along_m");
  if (controls.swizzle && *controls.swizzle > 1) add("swizzle " + std::to_string(*controls.swizzle));
  if (controls.multiprocessors) add(std::to_string(*controls.multiprocessors) + " multiprocessors");
  return text;
}

}  // namespace quarry::lab
