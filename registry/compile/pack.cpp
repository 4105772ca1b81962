#include "registry/compile/pack.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "basic/text.hpp"
#include "registry/compile/pack_format.hpp"
#include "registry/compile/store.hpp"
#include "registry/compile/whole_file.hpp"
#include "registry/device/device_model.hpp"
#include "registry/device/runtime.hpp"

namespace quarry {
namespace {

using detail::ArtifactData;
using Artifacts = std::vector<std::shared_ptr<const ArtifactData>>;

Status invalid(std::string why) { return {StatusCode::invalid_artifact, std::move(why)}; }

Status out_of_memory() { return {StatusCode::device_error, "Out of memory for a pack"}; }

Status of_file(const Status& status, const std::string& path) {
  return {status.code(), "Pack " + detail::quoted(path) + ": " + status.message()};
}

/// The words of a text, paths in it cut down to file names.
std::string without_folders(std::string_view text) {
  std::string result;
  std::size_t word = 0;
  for (const char c : text) {
    if (c == '/') {
      result.resize(word);
    } else {
      result += c;
      if (c == ' ') word = result.size();
    }
  }
  return result;
}

/// The artifact as it goes into a pack: its compiler's name says nothing of this machine's folders.
std::shared_ptr<const ArtifactData> relocatable(const Artifact& artifact) {
  const ArtifactData& data = artifact.data();
  std::string compiler = without_folders(data.compiler);
  if (compiler == data.compiler) return artifact.shared_data();
  auto copy = std::make_shared<ArtifactData>(data);
  copy->owned.assign(data.code.begin(), data.code.end());
  copy->code = copy->owned;
  copy->compiler = std::move(compiler);
  if (data.key == detail::artifact_key(data.entry, data.config, data.target, data.compiler))
    copy->key = detail::artifact_key(data.entry, data.config, data.target, copy->compiler);
  return copy;
}

/// The artifacts of a file; what it begins with is looked at before the rest is read.
Result<Artifacts> read_file(const std::string& path) {
  const Result<detail::WholeFile> file = detail::WholeFile::open(path);
  if (!file) return file.status();
  const Result<std::vector<std::byte>> head = file->read(detail::pack_head_bytes);
  if (!head) return head.status();
  if (Status s = detail::check_pack_head(*head, file->size()); !s) return of_file(s, path);
  const Result<std::vector<std::byte>> bytes = file->read(file->size());
  if (!bytes) return bytes.status();
  Result<Artifacts> artifacts = detail::pack_from_bytes(*bytes);
  return artifacts ? std::move(artifacts) : of_file(artifacts.status(), path);
}

/// "8.0 and 9.0"
std::string capabilities(const std::set<int>& all) {
  std::string text;
  for (const int cc : all) {
    if (!text.empty()) text += cc == *all.rbegin() ? " and " : ", ";
    text += std::to_string(cc / 10) + "." + std::to_string(cc % 10);
  }
  return text;
}

/// Refuses a pack that is of no use on this machine. Where there is no device, none is.
Status check_devices(const Artifacts& artifacts) {
  std::set<int> devices;
  for (int i = 0; i < detail::device_count(); ++i) {
    if (const DeviceModel* const model = detail::cached_device_model(i)) devices.insert(model->cc);
  }
  if (devices.empty()) return {};
  std::set<int> targets;
  for (const auto& artifact : artifacts) targets.insert(artifact->target);
  for (const int target : targets) {
    if (std::ranges::any_of(devices, [&](int cc) { return detail::runs_on(target, cc); })) return {};
  }
  return invalid("It is of another architecture: its code is for compute capability " +
                 capabilities(targets) + ", the devices of this machine have " + capabilities(devices));
}

/// Checks all, then adds all.
Status add_all(const Artifacts& artifacts) {
  for (const auto& artifact : artifacts) {
    if (Status s = detail::check_artifact(*artifact); !s) return s;
  }
  if (Status s = check_devices(artifacts); !s) return s;
  std::vector<std::uint32_t> entries;
  for (const auto& artifact : artifacts) {
    const Result<std::uint32_t> entry = detail::entry_of_artifact(*artifact);
    if (!entry) return entry.status();
    entries.push_back(*entry);
  }
  for (std::size_t i = 0; i < artifacts.size(); ++i) (void)detail::keep_artifact(entries[i], artifacts[i]);
  return {};
}

/// Warns of an invalid pack of the environment.
void load_or_warn(const std::string& path) {
  const Status status = load_pack(path);
  if (status) return;
  const std::string line = "quarry: warning: QUARRY_PACKS: " + status.message() + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

Status write_pack(std::span<const Artifact> artifacts, const std::string& path) try {
  Artifacts each;
  std::set<std::pair<std::string_view, int>> seen;
  for (const Artifact& artifact : artifacts) {
    if (artifact.data().key.empty()) {
      return {StatusCode::invalid_arguments,
              "The code of " + detail::quoted(artifact.entry()) +
                  " is precompiled, a part of this library: compile it with `force` to pack it"};
    }
    if (seen.insert({artifact.entry(), artifact.target()}).second) each.push_back(relocatable(artifact));
  }
  if (each.empty()) return {StatusCode::invalid_arguments, "A pack needs an artifact, and there is none"};
  return detail::write_whole_file(path, detail::pack_to_bytes(each));
} catch (const std::exception&) {
  return out_of_memory();
}

Result<std::vector<Artifact>> read_pack(const std::string& path) try {
  const Result<Artifacts> read = read_file(path);
  if (!read) return read.status();
  return std::vector<Artifact>(read->begin(), read->end());
} catch (const std::exception&) {
  return out_of_memory();
}

Status load_pack(const std::string& path) try {
  const Result<Artifacts> artifacts = read_file(path);
  if (!artifacts) return artifacts.status();
  const Status added = add_all(*artifacts);
  return added ? added : of_file(added, path);
} catch (const std::exception&) {
  return out_of_memory();
}

void detail::load_environment_packs() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* const paths = std::getenv("QUARRY_PACKS");
    std::string_view left = paths == nullptr ? "" : paths;
    while (!left.empty()) {
      const std::string_view path = left.substr(0, left.find(':'));
      left.remove_prefix(std::min(path.size() + 1, left.size()));
      if (!path.empty()) load_or_warn(std::string(path));
    }
  });
}

}  // namespace quarry
