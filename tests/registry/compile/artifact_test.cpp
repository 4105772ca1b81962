/// Artifacts as bytes, and where they come from.
#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "lab/problems/fresh_seed.hpp"
#include "operations/common/row.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/compile/compiler.hpp"
#include "registry/compile/precompiled.hpp"
#include "registry/compile/sources.hpp"
#include "registry/compile/store.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/fake_artifact.hpp"

using namespace quarry;

namespace {

detail::ArtifactData random_artifact(std::mt19937& random) {
  const auto text = [&] {
    std::string made(random() % 40, ' ');
    for (char& c : made) c = static_cast<char>(random() % 256);
    return made;
  };
  detail::ArtifactData artifact;
  artifact.entry = text();
  artifact.config = text();
  artifact.compiler = text();
  artifact.key = text();
  artifact.target = static_cast<int>(random() % 200);
  artifact.resources = {.registers = static_cast<int>(random() % 256),
                        .spill_bytes = static_cast<int>(random() % 1000),
                        .shared_memory = static_cast<int>(random() % 230000),
                        .code_bytes = random() % 100000};
  artifact.owned.resize(1 + random() % 300);
  for (std::byte& byte : artifact.owned) byte = static_cast<std::byte>(random() % 256);
  artifact.code = artifact.owned;
  return artifact;
}

/// A few registered kernels that are not precompiled, if there is a compiler.
std::vector<Kernel> kernels_to_compile(std::size_t count) {
  std::vector<Kernel> chosen;
  for (const Kernel& kernel : get_kernels()) {
    if (chosen.size() == count) break;
    if (!kernel.precompiled(90) && kernel.metadata().family == "gemm_simt" &&
        !detail::row_of(kernel).exchanged) {
      chosen.push_back(kernel);
    }
  }
  return chosen;
}

bool can_compile() {
  const Result<const detail::Compiler*> compiler = detail::find_compiler(CompilerBackend::nvrtc);
  if (!compiler) return false;
  const Result<detail::EntrySource> source =
      detail::entry_source(detail::row_of(get_kernels()[0]).metadata.name);
  return source &&
         (*compiler)->compile({source->text, std::string(get_kernels()[0].name()), 90}).status().code() !=
             StatusCode::no_compiler;
}

}  // namespace

TEST_CASE("artifacts read back from bytes are the same", "[artifact]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    const detail::ArtifactData artifact = random_artifact(random);
    const std::vector<std::byte> bytes = detail::to_bytes(artifact);
    const auto read = detail::from_bytes(bytes);
    INFO(read.status().message());
    REQUIRE(read);
    CHECK((*read)->entry == artifact.entry);
    CHECK((*read)->config == artifact.config);
    CHECK((*read)->compiler == artifact.compiler);
    CHECK((*read)->key == artifact.key);
    CHECK((*read)->target == artifact.target);
    CHECK((*read)->owned == artifact.owned);
    CHECK((*read)->resources.registers == artifact.resources.registers);
    CHECK((*read)->resources.code_bytes == artifact.resources.code_bytes);
    CHECK(detail::to_bytes(**read) == bytes);
  }
}

TEST_CASE("an artifact with any byte changed, cut or added is refused", "[artifact]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::byte> bytes = detail::to_bytes(random_artifact(random));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> changed = bytes;
    changed[i] ^= static_cast<std::byte>(1 + random() % 255);
    CHECK(Artifact::deserialize(changed).status().code() == StatusCode::invalid_artifact);
    CHECK(Artifact::deserialize(std::span(bytes).first(i)).status().code() == StatusCode::invalid_artifact);
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  CHECK(Artifact::deserialize(longer).status().code() == StatusCode::invalid_artifact);
  CHECK(Artifact::deserialize({}).status().message() == "The artifact is cut short: 0 bytes");
}

TEST_CASE("lengths inside an artifact that its checksum does not know to be wrong", "[artifact]") {
  // What a program that writes such files by mistake could make: everything is right except the lengths.
  std::mt19937 random(1);
  std::vector<std::byte> bytes = detail::to_bytes(random_artifact(random));
  for (const std::size_t offset : {std::size_t{32}, std::size_t{33}, std::size_t{35}}) {
    std::vector<std::byte> changed = bytes;
    changed[offset] = std::byte{0xff};
    const std::uint64_t sum =
        detail::checksum(std::span(changed).subspan(32), detail::checksum(std::span(changed).first(24)));
    for (std::size_t i = 0; i < 8; ++i) changed[24 + i] = static_cast<std::byte>(sum >> (8 * i) & 0xff);
    CHECK(detail::from_bytes(changed).status().code() == StatusCode::invalid_artifact);
  }
}

TEST_CASE("a precompiled kernel hands back the library's own code", "[artifact]") {
  for (const Kernel& kernel : get_kernels()) {
    if (detail::precompiled_target(detail::row_of(kernel).entry, 90) == 0) continue;
    const Result<Artifact> artifact = kernel.compile({.target = 90});
    REQUIRE(artifact);
    CHECK(artifact->origin() == ArtifactOrigin::precompiled);
    CHECK(artifact->target() == 90);
    const detail::Entry& entry = detail::entry_of(detail::row_of(kernel).entry);
    CHECK(artifact->entry() == entry.name);
    CHECK(artifact->code().data() ==
          reinterpret_cast<const std::byte*>(detail::units()[static_cast<std::size_t>(entry.unit)].begin));
    CHECK(artifact->resources().registers > 0);
    CHECK(artifact->resources().shared_memory == kernel.metadata().design.shared_memory);
  }
}

TEST_CASE("targets that a kernel does not run on are refused before a compiler is looked for", "[artifact]") {
  const Kernel kernel = get_kernels()[0];
  const Status status = kernel.compile({.target = 70}).status();
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message().find("8.0") != std::string::npos);
}

TEST_CASE("words of compilers and origins", "[artifact]") {
  CHECK(*parse_compiler_backend("nvcc") == CompilerBackend::nvcc);
  CHECK(to_string(CompilerBackend::nvrtc) == "nvrtc");
  CHECK(to_string(ArtifactOrigin::cached) == "cached");
  CHECK(parse_compiler_backend("gcc").status().code() == StatusCode::parse_error);
}

TEST_CASE("many threads that ask for the same kernels compile each once", "[artifact][compile]") {
  const std::vector<Kernel> kernels = kernels_to_compile(8);
  if (kernels.size() < 8 || !can_compile()) {
    WARN("no NVRTC, or every kernel is precompiled: not tried");
    return;
  }
  const std::size_t before = detail::compilations();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 64; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        const Kernel& kernel = kernels[(i + static_cast<std::size_t>(t)) % kernels.size()];
        const Result<Artifact> artifact = kernel.compile({.target = 90, .use_disk_cache = false});
        if (artifact && artifact->entry() == kernel.name() && !artifact->code().empty()) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 64 * 8);
  CHECK(detail::compilations() - before == 8);

  // Serialized, it is the same in a process that has not compiled it.
  const Artifact artifact = *kernels[0].compile({.target = 90});
  CHECK(artifact.resources().registers > 0);
  CHECK(artifact.resources().code_bytes == artifact.code().size());
  CHECK(artifact.resources().shared_memory == kernels[0].metadata().design.shared_memory);
  CHECK(artifact.resources().shared_memory > 0);
  const Result<Artifact> again = Artifact::deserialize(artifact.serialize());
  REQUIRE(again);
  CHECK(std::ranges::equal(again->code(), artifact.code()));
  CHECK(again->resources().shared_memory == artifact.resources().shared_memory);
  CHECK(again->origin() == ArtifactOrigin::loaded);
}

TEST_CASE("compile of many kernels answers in their order, and says how far it is", "[artifact][compile]") {
  std::vector<Kernel> kernels = kernels_to_compile(2);
  if (kernels.size() < 2 || !can_compile()) {
    WARN("no NVRTC, or every kernel is precompiled: not tried");
    return;
  }
  kernels.push_back(kernels[0]);
  std::vector<std::size_t> steps;
  const auto results = compile(kernels, {.target = 80, .use_disk_cache = false},
                               [&](std::size_t done, std::size_t total, const Kernel&) {
                                 CHECK(total == 3);
                                 steps.push_back(done);
                               });
  REQUIRE(results.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    INFO(results[i].status().message());
    REQUIRE(results[i]);
    CHECK(results[i]->entry() == kernels[i].name());
    CHECK(results[i]->target() == 80);
  }
  CHECK(results[0]->code().data() == results[2]->code().data());
  CHECK(steps.back() == 3);
  CHECK(std::ranges::is_sorted(steps));
}

TEST_CASE("the answer to a query can be compiled at once", "[artifact]") {
  const GemmArguments args{.a = TensorView::row_major(nullptr, DType::f16, {64, 64}),
                           .b = TensorView::row_major(nullptr, DType::f16, {64, 64}),
                           .out = TensorView::row_major(nullptr, DType::f16, {64, 64})};
  const CandidateList found = get_kernels(args, {}, {.limit = 3});
  REQUIRE(found.size() == 3);
  // On 7.0 none runs, so that none is compiled: the answers come in the candidates' order all the same.
  const std::vector<Result<Artifact>> results = compile(found, {.target = 70});
  REQUIRE(results.size() == 3);
  for (const Result<Artifact>& result : results) CHECK(result.status().code() == StatusCode::unsupported);
  CHECK(compile(CandidateList()).empty());
  for (const Candidate& candidate : found) {
    const auto kept = std::string(entry_name(candidate));
    if (!candidate.precompiled(90)) REQUIRE(add_artifact(test::fake_artifact(kept)));
  }
  const std::vector<Result<Artifact>> ready = compile(found, {.target = 90}, {}, 2);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    REQUIRE(ready[i]);
    CHECK(ready[i]->entry() == entry_name(found[i]));
  }
}
