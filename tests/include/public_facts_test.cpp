// What programs can ask beside queries: one kernel as a candidate, machine code, the machine.
#include <algorithm>
#include <set>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

namespace {

using namespace quarry;

GemmArguments plain_problem() {
  return {.a = TensorView::row_major(nullptr, DType::f16, {256, 512}),
          .b = TensorView::row_major(nullptr, DType::f16, {512, 128}),
          .out = TensorView::row_major(nullptr, DType::f16, {256, 128})};
}

ReduceSplitKArguments plain_reduction() {
  return {.partials = TensorView::row_major(nullptr, DType::f32, {4, 64, 32}),
          .out = TensorView::row_major(nullptr, DType::f32, {64, 32})};
}

/// Each answer of a query is what its kernel alone answers.
template <class Arguments>
void check_candidates(const Arguments& arguments) {
  const CandidateList found = get_kernels(arguments, {}, {.limit = 20});
  REQUIRE(!found.empty());
  for (const Candidate& candidate : found) {
    const Result<Candidate> same = candidate_of(*find_kernel(candidate.name()), arguments);
    REQUIRE(same);
    CHECK(*same == candidate);
    CHECK(same->controls().mode == candidate.controls().mode);
    CHECK(same->controls().split_k_slices == candidate.controls().split_k_slices);
    CHECK(same->predicted_seconds() == Approx(candidate.predicted_seconds()));
    CHECK(same->workspace() == candidate.workspace());
  }
}

TEST_CASE("One kernel answers a problem as it does in a query", "[query]") {
  check_candidates(plain_problem());
  check_candidates(plain_reduction());
}

TEST_CASE("A kernel of another operation is no candidate", "[query]") {
  const Kernel gemm = get_kernels(plain_problem()).front();
  const Kernel reduction = get_kernels(plain_reduction()).front();
  CHECK(candidate_of(gemm, plain_reduction()).status().code() == StatusCode::unsupported);
  CHECK(candidate_of(reduction, plain_problem()).status().code() == StatusCode::unsupported);
}

TEST_CASE("Kernels name their entries", "[code]") {
  std::set<std::string_view> names;
  for (const Kernel& kernel : get_kernels()) names.insert(entry_name(kernel));
  const PrecompiledCode code = precompiled_code();
  CHECK(names.size() == code.entries);
  CHECK(code.precompiled <= code.entries);
  CHECK((code.units > 0) == (code.precompiled > 0));
  CHECK((code.bytes > 0) == (code.precompiled > 0));
  CHECK(std::ranges::is_sorted(precompiled_targets()));
  for (const Kernel& kernel : get_kernels()) {
    for (const int target : precompiled_targets()) {
      if (kernel.precompiled(target)) CHECK(known_resources(kernel, target));
    }
  }
}

TEST_CASE("The machine's CUDA is told in agreement", "[system]") {
  CHECK(bool(cuda_status()) == (device_count() > 0));
  CHECK(cuda_status(-1).code() == StatusCode::no_device);
  CHECK(cuda_status(device_count()).code() == StatusCode::no_device);
  CHECK(cuda_versions().runtime >= 12000);
  if (device_count() > 0) CHECK(cuda_versions().driver > 0);
  if (compiler_status()) CHECK(!compiler_path(CompilerBackend::automatic)->empty());
}

}  // namespace
