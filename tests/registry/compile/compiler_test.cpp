/// The run-time compilers: which one is used, what each says of kernels and of what is wrong. Tests that need
/// a compiler that is not there say so and pass.
#include "registry/compile/compiler.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "entry_text.hpp"
#include "operations/common/row.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/compiler_files.hpp"
#include "registry/compile/sources.hpp"
#include "support/catch_compat.hpp"

namespace quarry::detail {
namespace {

namespace fs = std::filesystem;

/// An environment variable while a test runs; null: not set.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = getenv(name)) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  Variable(const char* name, const std::string& value) : Variable(name, value.c_str()) {}
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// A folder of a test's own.
class Folder {
 public:
  explicit Folder(const std::string& name = "quarry_compiler_") {
    std::string path = (fs::temp_directory_path() / (name + "XXXXXX")).string();
    REQUIRE(mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// Writes a script that can be run. @return its path
  std::string script(const std::string& name, const std::string& text) const {
    const fs::path path = path_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" << text;
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Of one compute capability alone.
constexpr const char* a_hopper_kernel = "gemm_sm90_f16_f16_f32_f16_rcr_64x64x64_c1x1_s4_one_tile_a8x8";
constexpr const char* a_kernel = "gemm_simt_f32_f32_f32_f32_rrr_128x128x8_t8x8";

CompileJob job_of(const std::string& entry, int target) {
  const Result<EntrySource> source = entry_source(entry);
  REQUIRE(source);
  return {source->text, entry, target, source->only_cc};
}

const Compiler& compiler(CompilerBackend backend = CompilerBackend::automatic) {
  const Result<const Compiler*> found = find_compiler(backend);
  INFO(found.status().message());
  REQUIRE(found);
  return **found;
}

/// The compiler of this machine; null where there is none.
const Compiler* real(CompilerBackend backend) {
  const Result<const Compiler*> found = find_compiler(backend);
  if (!found) {
    WARN("not tested: " << found.status().message());
    return nullptr;
  }
  const Status status = (*found)->compile(job_of("reduce_split_k_f32_f32", 90)).status();
  if (status.code() != StatusCode::no_compiler) return *found;
  WARN("not tested: " << status.message());
  return nullptr;
}

template <class T>
void check_refused(const Result<T>& result, StatusCode code, const std::string& why) {
  REQUIRE_FALSE(result);
  CHECK(to_string(result.status().code()) == to_string(code));
  CHECK_THAT(result.status().message(), Catch::Contains(why));
}

/// Compiles for 90 by NVRTC's file `path`.
Result<CompiledCode> compile_by(const std::string& path) {
  const Variable file("QUARRY_NVRTC", path);
  const Result<const Compiler*> found = find_compiler(CompilerBackend::nvrtc);
  if (!found) return found.status();
  return (*found)->compile(job_of(a_kernel, 90));
}

TEST_CASE("QUARRY_COMPILER chooses the compiler", "[compiler]") {
  const Variable file("QUARRY_NVRTC", QUARRY_STUB_NVRTC_USABLE);
  const Folder folder;
  const Variable nvcc("QUARRY_NVCC", folder.script("nvcc", "exit 1\n"));
  const auto identity = [](const char* word) {
    const Variable chosen("QUARRY_COMPILER", word);
    return std::string(compiler().identity());
  };
  CHECK_THAT(identity(nullptr), Catch::Contains("nvrtc " QUARRY_STUB_NVRTC_USABLE));
  CHECK(identity("") == identity(nullptr));
  CHECK(identity("nvrtc") == identity(nullptr));
  CHECK_THAT(identity("nvcc"), Catch::Contains("nvcc " + folder.path().string()));
}

TEST_CASE("QUARRY_COMPILER can be off, and must be a word", "[compiler]") {
  const Variable file("QUARRY_NVRTC", QUARRY_STUB_NVRTC_USABLE);
  {
    const Variable off("QUARRY_COMPILER", "off");
    check_refused(find_compiler(CompilerBackend::automatic), StatusCode::no_compiler,
                  "QUARRY_COMPILER is `off`");
    CHECK(find_compiler(CompilerBackend::nvrtc));  // who names one gets it
  }
  for (const char* word : {"OFF", "nvrtc ", "clang", "automatic"}) {
    const Variable chosen("QUARRY_COMPILER", word);
    check_refused(find_compiler(CompilerBackend::automatic), StatusCode::no_compiler,
                  "it can be `nvrtc`, `nvcc` or `off`");
    check_refused(find_compiler(CompilerBackend::automatic), StatusCode::no_compiler,
                  "`" + std::string(word) + "`");
  }
}

TEST_CASE("A compiler of an unknown number is refused", "[compiler]") {
  const auto unknown = static_cast<CompilerBackend>(99);
  check_refused(find_compiler(unknown), StatusCode::invalid_arguments, "unknown number 99");
  CHECK(compiler_status(unknown).code() == StatusCode::invalid_arguments);
  CHECK(compiler_path(unknown).status().code() == StatusCode::invalid_arguments);
}

TEST_CASE("A file that is no usable NVRTC is refused, and why is said", "[compiler]") {
  const Folder folder;
  const std::string text_file = folder.script("libnvrtc.so.13", "not a library\n");
  check_refused(compile_by("/nowhere"), StatusCode::no_compiler, "QUARRY_NVRTC");
  check_refused(compile_by("/nowhere"), StatusCode::no_compiler, "there is no file `/nowhere`");
  check_refused(compile_by(folder.path().string()), StatusCode::no_compiler, "is no file");
  check_refused(compile_by(text_file), StatusCode::no_compiler, "NVRTC cannot be opened: " + text_file);
  check_refused(compile_by(QUARRY_STUB_NVRTC_INCOMPLETE), StatusCode::no_compiler,
                "it has no function nvrtcGetPTX");
  check_refused(compile_by(QUARRY_STUB_NVRTC_OLD), StatusCode::no_compiler,
                "is NVRTC 11.0, which is too old: 12.4 or later is needed");
}

TEST_CASE("A failure to find a compiler is not kept", "[compiler]") {
  const Folder folder;
  const std::string path = (folder.path() / "later.so").string();
  check_refused(compile_by(path), StatusCode::no_compiler, "there is no file");
  fs::copy_file(QUARRY_STUB_NVRTC_USABLE, path);
  CHECK(compile_by(path));
}

TEST_CASE("The log becomes resources or the message", "[compiler]") {
  const Variable file("QUARRY_NVRTC", QUARRY_STUB_NVRTC_USABLE);
  const Compiler& stub = compiler(CompilerBackend::nvrtc);
  const Result<CompiledCode> code = stub.compile(job_of(a_kernel, 90));
  REQUIRE(code);
  CHECK(code->cubin.size() == 9);
  CHECK(code->resources.code_bytes == 9);
  CHECK(code->resources.registers == 77);
  CHECK(code->resources.spill_bytes == 16);
  CHECK_THAT(code->log, Catch::Contains("Used 77 registers"));

  const Result<CompiledCode> failed = stub.compile(job_of(a_kernel, 80));
  REQUIRE_FALSE(failed);
  CHECK(failed.status().code() == StatusCode::compile_error);
  CHECK(failed.status().message() ==
        "k.cu(2): error: broken\nk.cu(1): warning: odd\nk.cu(2): error: broken\nk.cu(3): error: too");
  check_refused(stub.compile(job_of(a_kernel, 86)), StatusCode::compile_error,
                "NVRTC 13.0 error: NVRTC_ERROR_STUB");
  check_refused(stub.compile(job_of(a_kernel, 89)), StatusCode::compile_error,
                "NVRTC 13.0 error: it gave no code");
  check_refused(stub.compile({"", "refused", 90}), StatusCode::compile_error, "NVRTC_ERROR_STUB");
  const Result<std::string> ptx = stub.ptx(job_of(a_kernel, 90));
  REQUIRE(ptx);
  CHECK(*ptx == "ptx\n");
}

TEST_CASE("A target that the compiler or the kernels do not know is unsupported", "[compiler]") {
  const Variable file("QUARRY_NVRTC", QUARRY_STUB_NVRTC_USABLE);
  const Compiler& stub = compiler(CompilerBackend::nvrtc);
  for (const int target : {123, 87, 999999999}) {
    check_refused(stub.compile(job_of(a_kernel, target)), StatusCode::unsupported,
                  "NVRTC 13.0 does not compile for compute capability " + std::to_string(target) +
                      "; it knows 80, 86, 89, 90, 100");
  }
  for (const int target : {75, 0, -1, -2147483647}) {
    check_refused(stub.compile(job_of(a_kernel, target)), StatusCode::unsupported,
                  "the target is " + std::to_string(target));
    check_refused(stub.ptx(job_of(a_kernel, target)), StatusCode::unsupported, "80 or later");
  }
}

TEST_CASE("A kernel of one compute capability is refused for others", "[compiler]") {
  const Variable file("QUARRY_NVRTC", QUARRY_STUB_NVRTC_USABLE);
  const Compiler& stub = compiler(CompilerBackend::nvrtc);
  const std::string alone = "`" + std::string(a_hopper_kernel) + "` is for compute capability 90 alone";
  for (const int target : {80, 86, 89, 100}) {
    check_refused(stub.compile(job_of(a_hopper_kernel, target)), StatusCode::unsupported, alone);
    check_refused(stub.ptx(job_of(a_hopper_kernel, target)), StatusCode::unsupported, alone);
    const Result<Kernel> kernel = make_kernel(a_hopper_kernel);
    REQUIRE(kernel);
    check_refused(kernel->compile({.target = target}), StatusCode::unsupported, "9.0");
  }
  CHECK(architecture(90, 90) == "90a");
  CHECK(architecture(90, 0) == "90");
  CHECK(architecture(80, 0) == "80");
}

TEST_CASE("The identity changes with the compiler's file", "[compiler]") {
  const Folder folder;
  const std::string path = (folder.path() / "libnvrtc.so.13").string();
  fs::copy_file(QUARRY_STUB_NVRTC_USABLE, path);
  const Result<CompilerFile> first = compiler_file(path);
  REQUIRE(first);
  CHECK(first->fingerprint == compiler_file(path)->fingerprint);
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::seconds(5));
  const Result<CompilerFile> older = compiler_file(path);
  CHECK(older->fingerprint != first->fingerprint);
  std::ofstream(path, std::ios::app) << "more";
  CHECK(compiler_file(path)->fingerprint != older->fingerprint);
  fs::create_symlink(path, folder.path() / "link");
  CHECK(compiler_file((folder.path() / "link").string())->path == fs::canonical(path).string());
}

TEST_CASE("NVRTC is found in the places that a user names, in their order", "[compiler]") {
  const Folder folder;
  const std::string root = folder.path().string();
  const auto put = [&](const std::string& below) {
    fs::create_directories((folder.path() / below).parent_path());
    fs::copy_file(QUARRY_STUB_NVRTC_USABLE, folder.path() / below);
    return fs::canonical(folder.path() / below).string();
  };
  const Variable named("QUARRY_NVRTC", nullptr);
  const Variable library_path("LD_LIBRARY_PATH", ":" + root + "/linker::" + root + "/none");
  const Variable cuda_path("CUDA_PATH", root + "/path");
  const Variable cuda_home("CUDA_HOME", root + "/home");
  const Variable path("PATH", root + "/nothing:" + root + "/tool/bin");
  const Variable environment("VIRTUAL_ENV", root + "/venv");
  folder.script("tool/bin/nvcc", "");
  const auto found = [] {
    const Result<CompilerFile> file = find_nvrtc_file();
    return file ? file->path : file.status().message();
  };
  put("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const auto folders = nvrtc_folders();
  CHECK(std::ranges::count(folders, root + "/venv/lib/python3.11/site-packages/nvidia/cu13/lib") == 1);
  // Each is in front of those before it.
  for (const char* below :
       {"tool/lib/libnvrtc.so.12", "tool/lib64/libnvrtc.so.12", "home/lib64/libnvrtc.so.12",
        "path/targets/x86_64-linux/lib/libnvrtc.so.12", "path/lib64/libnvrtc.so.12",
        "path/lib64/libnvrtc.so.13", "linker/libnvrtc.so.12"}) {
    const std::string file = put(below);
    CHECK(found() == file);
  }
}

TEST_CASE("NVRTC compiles kernels", "[compiler]") {
  const Compiler* const nvrtc = real(CompilerBackend::nvrtc);
  if (nvrtc == nullptr) return;
  for (const int target : {80, 90}) {
    const Result<CompiledCode> code = nvrtc->compile(job_of(a_kernel, target));
    INFO(code.status().message());
    REQUIRE(code);
    CHECK(std::string_view(reinterpret_cast<const char*>(code->cubin.data()), 4) ==
          "\x7f"
          "ELF");
    CHECK(code->resources.code_bytes == code->cubin.size());
    CHECK(code->resources.registers >= 24);
    CHECK(code->resources.registers <= 255);
    CHECK(code->resources.spill_bytes == 0);
  }
  const Result<std::string> ptx = nvrtc->ptx(job_of(a_kernel, 80));
  REQUIRE(ptx);
  CHECK_THAT(*ptx, Catch::Contains(".target sm_80") && Catch::Contains(".entry " + std::string(a_kernel)));
  const Result<CompiledCode> hopper = nvrtc->compile(job_of(a_hopper_kernel, 90));
  INFO(hopper.status().message());
  REQUIRE(hopper);
  CHECK(hopper->resources.registers >= 24);
  const Result<std::string> hopper_ptx = nvrtc->ptx(job_of(a_hopper_kernel, 90));
  REQUIRE(hopper_ptx);
  CHECK_THAT(*hopper_ptx, Catch::Contains(".target sm_90a"));
  check_refused(nvrtc->compile(job_of(a_kernel, 75)), StatusCode::unsupported, "80 or later");
  check_refused(nvrtc->compile(job_of(a_kernel, 123)), StatusCode::unsupported, "123");
}

TEST_CASE("The compilers say what is wrong with a source, the first error first", "[compiler]") {
  for (const CompilerBackend backend : {CompilerBackend::nvrtc, CompilerBackend::nvcc}) {
    const Compiler* const found = real(backend);
    if (found == nullptr) continue;
    const CompileJob job = {
        "#warning attention\nint f() { return missing_name; }\nint g() { return other; }\n", "broken", 90};
    const Result<CompiledCode> code = found->compile(job);
    check_refused(code, StatusCode::compile_error, "\n");
    const std::string message = code.status().message();
    const std::string first = message.substr(0, message.find('\n'));
    CHECK_THAT(first, Catch::Contains("error") && Catch::Contains("missing_name"));
    CHECK_THAT(message, Catch::Contains("attention") && Catch::Contains("other"));
    check_refused(found->compile({"#include <cstdio>\n#include \"no/such/file.hpp\"\n", "broken", 90}),
                  StatusCode::compile_error, "error");
    check_refused(found->compile({"", "nothing", 123}), StatusCode::unsupported, "123");
  }
}

TEST_CASE("NVRTC compiles in many threads at once", "[compiler]") {
  const Compiler* const nvrtc = real(CompilerBackend::nvrtc);
  if (nvrtc == nullptr) return;
  const char* const names[] = {"reduce_split_k_f32_f16", "reduce_split_k_f32_bf16", "reduce_split_k_f32_f32",
                               "reduce_split_k_f64_f64"};
  std::vector<Result<CompiledCode>> results(8, Status(StatusCode::no_compiler, ""));
  std::vector<CompileJob> jobs;
  for (std::size_t i = 0; i < results.size(); ++i) jobs.push_back(job_of(names[i % 4], 90));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = nvrtc->compile(jobs[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) {
    INFO(results[i].status().message());
    REQUIRE(results[i]);
    CHECK(results[i]->cubin == results[i % 4]->cubin);
    CHECK(results[i]->resources.registers == results[i % 4]->resources.registers);
  }
}

TEST_CASE("NVRTC compiles what interleaved layouts need", "[compiler]") {
  const Compiler* const nvrtc = real(CompilerBackend::nvrtc);
  if (nvrtc == nullptr) return;
  for (const char* name : {"reorder_matrix_s8", "reorder_matrix_s32", "reduce_split_k_s32_s8_interleaved32",
                           "gemm_simt_s8_s8_s32_s8_RCC_64x64x64_t4x4",
                           "gemm_sm80_s8_s8_s32_s8_CRC_64x32x128_w2x1x2_s4_a16x16"}) {
    for (const int target : {80, 90}) {
      const Result<CompiledCode> code = nvrtc->compile(job_of(name, target));
      INFO(name << ": " << code.status().message());
      REQUIRE(code);
      CHECK_FALSE(code->cubin.empty());
    }
  }
}

TEST_CASE("nvcc compiles kernels and leaves nothing behind", "[compiler]") {
  const Compiler* const nvcc = real(CompilerBackend::nvcc);
  if (nvcc == nullptr) return;
  const Folder folder("quarry compiler 'quoted' ");
  const Variable temporary("TMPDIR", folder.path().string());
  const Result<CompiledCode> code = nvcc->compile(job_of("reduce_split_k_f32_f16", 80));
  INFO(code.status().message());
  REQUIRE(code);
  CHECK(std::string_view(reinterpret_cast<const char*>(code->cubin.data()), 4) ==
        "\x7f"
        "ELF");
  CHECK(code->resources.code_bytes == code->cubin.size());
  CHECK(code->resources.registers >= 16);
  const Result<std::string> ptx = nvcc->ptx(job_of("reduce_split_k_f32_f16", 80));
  REQUIRE(ptx);
  CHECK_THAT(*ptx, Catch::Contains(".entry reduce_split_k_f32_f16"));
  const Result<std::string> hopper_ptx = nvcc->ptx(job_of(a_hopper_kernel, 90));
  INFO(hopper_ptx.status().message());
  REQUIRE(hopper_ptx);
  CHECK_THAT(*hopper_ptx, Catch::Contains(".target sm_90a"));
  CHECK_FALSE(nvcc->compile({"int f() { return missing_name; }\n", "broken", 90}));
  CHECK(fs::is_empty(folder.path()));
  const Variable nowhere("TMPDIR", "/nowhere/at/all");
  check_refused(nvcc->compile(job_of("reduce_split_k_f32_f16", 80)), StatusCode::no_compiler,
                "no temporary folder");
}

TEST_CASE("A program that is no usable nvcc is refused, and why is said", "[compiler]") {
  const Folder folder;
  const auto compile_with = [&](const std::string& path) -> Result<CompiledCode> {
    const Variable nvcc("QUARRY_NVCC", path);
    const Result<const Compiler*> found = find_compiler(CompilerBackend::nvcc);
    if (!found) return found.status();
    return (*found)->compile(job_of(a_kernel, 90));
  };
  const auto lists = [](const std::string& release) {
    return "case $1 in --version) echo 'Cuda compilation tools, release " + release +
           ", V1';; --list-gpu-code) echo sm_80; echo sm_90;;";
  };
  check_refused(compile_with("/nowhere"), StatusCode::no_compiler,
                "QUARRY_NVCC cannot be used: there is no file `/nowhere`");
  const std::string plain = folder.script("plain", "");
  fs::permissions(plain, fs::perms::owner_read);
  check_refused(compile_with(plain), StatusCode::no_compiler, plain + "` cannot be run");
  check_refused(compile_with(folder.script("fails", "echo damaged; exit 3\n")), StatusCode::no_compiler,
                "`--version` ends with 3: `damaged");
  check_refused(compile_with(folder.script("dies", "kill -9 $$\n")), StatusCode::no_compiler,
                "ends with 137");
  check_refused(compile_with(folder.script("mute", "exit 0\n")), StatusCode::no_compiler,
                "does not say that it is nvcc");
  check_refused(compile_with(folder.script("old", lists("11.8") + " esac\n")), StatusCode::no_compiler,
                "is nvcc 11.8, which is too old: 12.4 or later is needed");
  check_refused(compile_with(folder.script("empty", lists("13.0") + " esac\n")), StatusCode::compile_error,
                "nvcc 13.0 error: it gave no code");
  check_refused(compile_with(folder.script("breaks", lists("13.0") + " *) exit 7;; esac\n")),
                StatusCode::compile_error, "nvcc 13.0 error: it ended with 7");
}

TEST_CASE("Programs are told which compiler would be used", "[compiler]") {
  const Folder folder;
  const std::string nvcc = folder.script("nvcc", "exit 0\n");
  const Variable named("QUARRY_NVCC", nvcc);
  const std::string path = fs::canonical(nvcc).string();
  CHECK(*compiler_path(CompilerBackend::nvcc) == path);
  {
    const Variable chosen("QUARRY_COMPILER", "nvcc");
    CHECK(*compiler_path(CompilerBackend::automatic) == path);
  }
  const Variable off("QUARRY_COMPILER", "off");
  CHECK(compiler_status().code() == StatusCode::no_compiler);
  CHECK(compiler_path(CompilerBackend::automatic).status().code() == StatusCode::no_compiler);
  CHECK(compiler_path(CompilerBackend::nvcc));
}

}  // namespace
}  // namespace quarry::detail
