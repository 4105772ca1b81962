// Packs: what goes in comes out, and invalid entries stay out.
#include "quarry/pack.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include "lab/problems/fresh_seed.hpp"
#include "registry/compile/pack.hpp"
#include "registry/compile/pack_format.hpp"
#include "registry/compile/store.hpp"
#include "registry/device/runtime.hpp"
#include "registry/operation.hpp"
#include "support/cache_folder.hpp"
#include "support/fake_artifact.hpp"

using namespace quarry;
using detail::file_bytes;
using detail::TestFolder;
using detail::write_file;
using test::fake_artifact;
using test::fake_data;
using test::fresh_name;

namespace {

/// The machine code that the process has for the default device.
std::shared_ptr<const detail::ArtifactData> in_memory(const std::string& entry) {
  const std::optional<std::uint32_t> number = detail::find_entry(entry);
  return number ? detail::artifact_in_memory(*number, default_device_model().cc) : nullptr;
}

void must(const Status& status) {
  INFO(status.message());
  REQUIRE(status);
}

/// That a file is refused for these reasons.
void check_refused(const std::string& path, const std::string& why) {
  for (const Status& status : {read_pack(path).status(), load_pack(path)}) {
    INFO(status.message());
    REQUIRE_FALSE(status);
    CHECK(status.code() == StatusCode::invalid_artifact);
    CHECK(status.message().find(why) != std::string::npos);
    CHECK(status.message().find('\n') == std::string::npos);
  }
}

std::vector<std::byte> bytes_of_pack(const std::vector<Artifact>& artifacts) {
  std::vector<std::shared_ptr<const detail::ArtifactData>> data;
  for (const Artifact& artifact : artifacts) data.push_back(artifact.shared_data());
  return detail::pack_to_bytes(data);
}

void put_number(std::vector<std::byte>& bytes, std::size_t offset, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes[offset + i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

/// Makes the checksum of a pack's head right again. @param contents bytes of head and table
void repair(std::vector<std::byte>& bytes, std::size_t contents) {
  const std::span<const std::byte> head = std::span(bytes).first(contents);
  put_number(bytes, 24, detail::checksum(head.subspan(32), detail::checksum(head.first(24))), 8);
}

std::size_t files_in(const TestFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

TEST_CASE("kernels of packs and added artifacts need no compiler, and queries know it", "[pack]") {
  const TestFolder folder;
  const int cc = default_device_model().cc;
  const GemmArguments args{.a = TensorView::row_major(nullptr, DType::f16, {256, 512}),
                           .b = TensorView::column_major(nullptr, DType::f16, {512, 128}),
                           .out = TensorView::row_major(nullptr, DType::f16, {256, 128})};
  const FindOptions options = {.availability = Availability::precompiled};
  const auto ready = [&] { return get_kernels(args, {}, options).size(); };
  std::vector<Kernel> missing;
  for (const Kernel& kernel : get_kernels(args)) {
    const std::string_view entry = entry_name(kernel);
    const auto same = [&](const Kernel& other) { return entry_name(other) == entry; };
    if (!kernel.precompiled(cc) && std::ranges::none_of(missing, same)) missing.push_back(kernel);
  }
  REQUIRE(missing.size() >= 2);
  const Kernel& added = missing.front();
  const Kernel& packed = missing.back();
  const std::size_t before = ready();
  (void)find_best(args, {}, options);  // an answer to remember

  must(add_artifact(fake_artifact(std::string(entry_name(added)))));
  CHECK(added.precompiled(cc));
  CHECK(ready() == before + 1);
  const FindOptions that = {.limit = 1, .availability = Availability::precompiled};
  if (before == 0) CHECK(*find_best(args, {}, options) == added);
  CHECK(get_kernels(args, {}, that).matched() == before + 1);

  must(write_pack(std::vector{fake_artifact(std::string(entry_name(packed)))}, folder / "one.pack"));
  CHECK_FALSE(packed.precompiled(cc));
  must(load_pack(folder / "one.pack"));
  CHECK(packed.precompiled(cc));
  CHECK(get_kernels(args, {}, that).matched() == before + 2);
  CHECK_FALSE(packed.precompiled(70));
}

TEST_CASE("packs and artifacts come in from many threads while others query", "[pack]") {
  const TestFolder folder;
  std::vector<Artifact> artifacts;
  for (int i = 0; i < 8; ++i) artifacts.push_back(fake_artifact(fresh_name()));
  must(write_pack(artifacts, folder / "shared.pack"));
  const GemmArguments args{.a = TensorView::row_major(nullptr, DType::f16, {64, 64}),
                           .b = TensorView::row_major(nullptr, DType::f16, {64, 64}),
                           .out = TensorView::row_major(nullptr, DType::f16, {64, 64})};
  std::atomic<int> failures = 0;
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 20; ++i) {
        if (t % 3 == 0 && !load_pack(folder / "shared.pack")) ++failures;
        if (t % 3 == 1 && !add_artifact(artifacts[(t + i) % artifacts.size()])) ++failures;
        if (t % 3 == 2 && get_kernels(args, {}, {.availability = Availability::precompiled}).matched() >
                              get_kernels().size())
          ++failures;
      }
    });
  }
  threads.clear();
  CHECK(failures == 0);
  for (const Artifact& artifact : artifacts) CHECK(in_memory(std::string(artifact.entry())));
}

TEST_CASE("a pack gives back what was put into it", "[pack]") {
  const TestFolder folder;
  const std::string path = folder / "some.pack";
  std::vector<Artifact> artifacts;
  for (const std::size_t bytes : {1, 7, 5000, 100'000})
    artifacts.push_back(fake_artifact(fresh_name(), bytes));
  artifacts.push_back(artifacts.front());  // once is enough
  must(write_pack(artifacts, path));
  CHECK(files_in(folder) == 1);

  const Result<std::vector<Artifact>> read = read_pack(path);
  must(read.status());
  REQUIRE(read->size() == 4);
  for (std::size_t i = 0; i < read->size(); ++i) {
    const Artifact& artifact = (*read)[i];
    CHECK(artifact.serialize() == artifacts[i].serialize());
    CHECK(artifact.origin() == ArtifactOrigin::loaded);
    CHECK_FALSE(in_memory(std::string(artifact.entry())));  // to read is not to load
  }
  const std::vector<std::byte> bytes = file_bytes(path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  CHECK(text.find(folder.path()) == text.npos);
  CHECK(text.find(QUARRY_SOURCE_DIR) == text.npos);
}

TEST_CASE("a pack holds no path of the machine that wrote it", "[pack]") {
  const TestFolder folder;
  auto data = fake_data(fresh_name());
  data->compiler = "nvrtc /opt/some where/lib/libnvrtc.so.13 (5 bytes) -std=c++20";
  data->key = detail::artifact_key(data->entry, data->config, data->target, data->compiler);
  must(write_pack(std::vector{Artifact(data)}, folder / "x"));
  const std::vector<std::byte> bytes = file_bytes(folder / "x");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  CHECK(text.find("/opt") == text.npos);
  CHECK(text.find("/lib") == text.npos);
  CHECK(text.find("libnvrtc.so.13 (5 bytes) -std=c++20") != text.npos);
  must(load_pack(folder / "x"));
  CHECK(in_memory(data->entry)->owned == data->owned);
}

TEST_CASE("kernels of a loaded pack need no compiler", "[pack]") {
  const TestFolder folder;
  const std::string path = folder / "some.pack";
  const std::vector<Artifact> artifacts = {fake_artifact(fresh_name(), 60), fake_artifact(fresh_name(), 61)};
  must(write_pack(artifacts, path));
  must(load_pack(path));
  must(load_pack(path));  // which changes nothing
  std::filesystem::remove(path);
  const std::size_t before = detail::compilations();
  for (const Artifact& artifact : artifacts) {
    const Result<Kernel> kernel = make_kernel(artifact.entry());
    must(kernel.status());
    const Result<Artifact> code = kernel->compile();
    must(code.status());
    CHECK(code->serialize() == artifact.serialize());
    CHECK(code->origin() == ArtifactOrigin::loaded);
  }
  CHECK(detail::compilations() == before);
}

TEST_CASE("code that is there stays in use", "[pack]") {
  const TestFolder folder;
  const std::string entry = fresh_name();
  must(add_artifact(fake_artifact(entry, 10)));
  must(write_pack(std::vector{fake_artifact(entry, 20)}, folder / "x"));
  must(load_pack(folder / "x"));
  must(add_artifact(fake_artifact(entry, 30)));
  CHECK(in_memory(entry)->code.size() == 10);
}

TEST_CASE("a pack that is cut short anywhere is refused", "[pack]") {
  const TestFolder folder;
  const std::string path = folder / "cut.pack";
  const std::vector<Artifact> artifacts = {fake_artifact(fresh_name()), fake_artifact(fresh_name())};
  const std::vector<std::byte> whole = bytes_of_pack(artifacts);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    write_file(path, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    check_refused(path, size == 0 ? "no pack" : "cut short");
  }
  std::vector<std::byte> longer = whole;
  longer.push_back(std::byte{0});
  write_file(path, longer);
  check_refused(path, "should have");
  for (const Artifact& artifact : artifacts) CHECK_FALSE(in_memory(std::string(artifact.entry())));
  write_file(path, whole);
  must(load_pack(path));
}

TEST_CASE("a bit that flips anywhere in a pack is noticed", "[pack]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::byte> whole =
      bytes_of_pack({fake_artifact(fresh_name()), fake_artifact(fresh_name())});
  REQUIRE(detail::pack_from_bytes(whole));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CAPTURE(i);
    std::vector<std::byte> damaged = whole;
    damaged[i] ^= static_cast<std::byte>(1U << random() % 8);
    REQUIRE(detail::pack_from_bytes(damaged).status().code() == StatusCode::invalid_artifact);
    damaged.resize(random() % damaged.size());  // and cut short besides
    REQUIRE(detail::pack_from_bytes(damaged).status().code() == StatusCode::invalid_artifact);
  }
}

TEST_CASE("numbers that no pack has, under a right checksum, are refused", "[pack]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<std::byte> whole =
      bytes_of_pack({fake_artifact(fresh_name()), fake_artifact(fresh_name())});
  const std::size_t version_bytes = static_cast<std::size_t>(whole[32]);
  const std::size_t contents = 32 + 4 + version_bytes + 2 * 8;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> wrong = whole;
    const std::size_t fields[] = {12, 16, 32, contents - 16, contents - 8};
    const std::size_t at = fields[random() % 5];
    const std::size_t size = at == 12 || at == 32 ? 4 : 8;
    put_number(wrong, at, random() >> random() % 64, size);
    if (wrong == whole) continue;
    repair(wrong, contents);
    REQUIRE_FALSE(detail::pack_from_bytes(wrong));
  }
}

TEST_CASE("packs of other versions are refused by what they are", "[pack]") {
  const TestFolder folder;
  const std::vector<std::byte> whole = bytes_of_pack({fake_artifact(fresh_name())});
  std::vector<std::byte> other = whole;
  other[32 + 4] = std::byte{'7'};  // the first character of the library's version
  repair(other, 32 + 4 + static_cast<std::size_t>(whole[32]) + 8);
  write_file(folder / "library", other);
  check_refused(folder / "library", "of Quarry `7.");

  other = whole;
  put_number(other, 8, 2, 4);
  write_file(folder / "format", other);
  check_refused(folder / "format", "format is version 2");
}

TEST_CASE("what is no pack at all is refused", "[pack]") {
  const TestFolder folder;
  check_refused(folder / "missing", "No such file");
  check_refused(folder.path(), "not a file");
  check_refused("/dev/zero", "not a file");
  check_refused("", "No such file");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  check_refused(folder / "pipe", "not a file");
  std::ofstream(folder / "text") << "#!/bin/sh\necho this is no pack, however long it may become\n";
  check_refused(folder / "text", "no pack");
  write_file(folder / "artifact", fake_artifact(fresh_name()).serialize());
  check_refused(folder / "artifact", "no pack");
  CHECK(truncate((folder / "text").c_str(), off_t{1} << 40) == 0);  // larger than memory
  check_refused(folder / "text", "no pack");
}

TEST_CASE("all of a pack is loaded or nothing", "[pack]") {
  const TestFolder folder;
  const std::string good = fresh_name();
  const auto refused_with = [&](const std::shared_ptr<detail::ArtifactData>& bad, const std::string& why) {
    must(write_pack(std::vector{fake_artifact(good), Artifact(bad), fake_artifact(fresh_name())},
                    folder / "x"));
    must(read_pack(folder / "x").status());
    const Status status = load_pack(folder / "x");
    INFO(status.message());
    CHECK(status.code() == StatusCode::invalid_artifact);
    CHECK(status.message().find(why) != std::string::npos);
    CHECK_FALSE(in_memory(good));
    CHECK_FALSE(detail::find_entry(good));
    CHECK(add_artifact(Artifact(bad)).code() == StatusCode::invalid_artifact);
  };
  auto bad = fake_data(fresh_name());
  bad->key[bad->key.find("sources") + 9] ^= 1;
  refused_with(bad, "other sources");

  bad = fake_data(fresh_name());
  bad->config += " ";
  refused_with(bad, "another config");

  bad = fake_data(fresh_name());
  bad->target += 1;  // but its key says what it was compiled for
  refused_with(bad, "other sources");

  for (const char* const entry : {"", "gemm_sm80", "no_such_family_f16", "\x01\n", "reduce_split_k_f32_s8"}) {
    bad = fake_data(fresh_name());
    bad->entry = entry;
    refused_with(bad, "No kernel of this library");
  }
  for (const int target : {0, -90, 9, 1'000'000, 70}) {
    bad = fake_data(std::string(detail::entries()[0].name));
    bad->target = target;
    bad->key = detail::artifact_key(bad->entry, bad->config, target, bad->compiler);
    refused_with(bad, "compute capability");
  }
}

TEST_CASE("a transposed kernel's own name is not the name of code", "[pack]") {
  for (const Kernel& kernel : get_kernels()) {
    if (!detail::row_of(kernel).exchanged) continue;
    auto bad = fake_data(std::string(detail::entry_of(detail::row_of(kernel).entry).name));
    bad->entry = kernel.name();
    CHECK(add_artifact(Artifact(bad)).code() == StatusCode::invalid_artifact);
    return;
  }
}

TEST_CASE("a pack of another architecture is refused where there is a device", "[pack]") {
  CHECK(detail::runs_on(80, 86));
  CHECK(detail::runs_on(90, 90));
  CHECK_FALSE(detail::runs_on(86, 80));
  CHECK_FALSE(detail::runs_on(80, 90));
  const TestFolder folder;
  auto other = fake_data(fresh_name());
  other->target = 300;
  other->key = detail::artifact_key(other->entry, other->config, other->target, other->compiler);
  must(write_pack(std::vector{Artifact(other)}, folder / "x"));
  const Status status = load_pack(folder / "x");
  if (detail::device_count() == 0) {
    must(status);
  } else {
    CHECK(status.code() == StatusCode::invalid_artifact);
    CHECK(status.message().find("another architecture") != std::string::npos);
    CHECK_FALSE(detail::find_entry(other->entry));
  }
}

TEST_CASE("what cannot be packed is refused", "[pack]") {
  const TestFolder folder;
  CHECK(write_pack({}, folder / "x").code() == StatusCode::invalid_arguments);
  auto data = fake_data(fresh_name());
  data->key.clear();  // as precompiled code has none
  CHECK(write_pack(std::vector{Artifact(data)}, folder / "x").code() == StatusCode::invalid_arguments);
  CHECK(files_in(folder) == 0);
}

TEST_CASE("a pack that cannot be written leaves the old one", "[pack]") {
  const TestFolder folder;
  const std::vector<Artifact> old = {fake_artifact(fresh_name())};
  const std::vector<Artifact> large = {fake_artifact(fresh_name(), 300'000)};
  must(write_pack(old, folder / "x"));
  const std::vector<std::byte> before = file_bytes(folder / "x");

  for (const std::string& path :
       {folder / "missing/x", folder.path(), std::string("/dev/full"), std::string()}) {
    const Status status = write_pack(large, path);
    CHECK(status.code() == StatusCode::file_error);
    CHECK(status.message().find("Cannot write") != std::string::npos);
  }
  // A disk that is full, as far as this process can tell.
  rlimit limit = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const rlimit low = {100'000, limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &low) == 0);
  const Status status = write_pack(large, folder / "x");
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK(status.code() == StatusCode::file_error);
  CHECK(file_bytes(folder / "x") == before);
  CHECK(files_in(folder) == 1);

  must(write_pack(large, folder / "x"));
  CHECK(read_pack(folder / "x")->front().code().size() == 300'000);
}

TEST_CASE("an artifact that is brought along is its kernel's code", "[pack]") {
  const Artifact artifact = fake_artifact(fresh_name());
  must(add_artifact(artifact));
  CHECK(in_memory(std::string(artifact.entry()))->owned == artifact.shared_data()->owned);
  const Result<Artifact> again = Artifact::deserialize(artifact.serialize());
  must(again.status());
  must(add_artifact(*again));
}
