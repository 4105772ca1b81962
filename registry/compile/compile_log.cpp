#include "registry/compile/compile_log.hpp"

#include <algorithm>

#include "basic/ptxas_log.hpp"
#include "basic/text.hpp"

namespace quarry::detail {
namespace {

/// cp.async and bf16, which all kernels are made of, came with compute capability 8.0.
constexpr int lowest_target = 80;

/// The first line that has a word in it; "" where none has.
std::string_view first_line_with(std::string_view text, std::string_view word) {
  const auto found = text.find(word);
  if (found == text.npos) return "";
  const auto before = text.rfind('\n', found);
  const auto begin = before == text.npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', found) - begin);
}

std::string sm_list(std::span<const int> targets) {
  std::string text;
  for (const int target : targets) {
    if (target < lowest_target) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(target);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Status check_version(std::string_view what, const std::string& path, int version) {
  if (version >= oldest_cuda) return {};
  return {StatusCode::no_compiler,
          detail::quoted(path) + " is " + std::string(what) + " " + cuda_version_text(version) +
              ", which is too old: " + cuda_version_text(oldest_cuda) + " or later is needed"};
}

Status check_target(std::string_view compiler, const CompileJob& job, std::span<const int> supported) {
  const int target = job.target;
  if (target < lowest_target) {
    return {StatusCode::unsupported, "Kernels need compute capability " + std::to_string(lowest_target) +
                                         " or later; the target is " + std::to_string(target)};
  }
  if (job.only_cc != 0 && job.only_cc != target) {
    return {StatusCode::unsupported, quoted(job.entry) + " is for compute capability " +
                                         std::to_string(job.only_cc) + " alone; the target is " +
                                         std::to_string(target)};
  }
  if (std::ranges::find(supported, target) != supported.end()) return {};
  return {StatusCode::unsupported, std::string(compiler) + " does not compile for compute capability " +
                                       std::to_string(target) + "; it knows " + sm_list(supported)};
}

Status compile_failure(std::string_view log, std::string_view otherwise) {
  std::string_view first = first_line_with(log, "error");
  if (first.empty()) first = first_line_with(log, "fatal");
  if (first.empty()) first = otherwise;
  std::string message(first);
  if (!log.empty()) message.append("\n").append(log);
  while (message.ends_with('\n')) message.pop_back();
  return {StatusCode::compile_error, std::move(message)};
}

CodeResources resources_from_log(std::string_view log, const CompileJob& job, std::size_t code_bytes) {
  RegisterUsages usages;
  read_ptxas_log(log, usages);
  const RegisterUsage usage = usages[{job.entry, job.target}];
  return {.registers = usage.registers, .spill_bytes = usage.spill_bytes, .code_bytes = code_bytes};
}

}  // namespace quarry::detail
