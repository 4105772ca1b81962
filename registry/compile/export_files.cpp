#include "registry/compile/export_files.hpp"

#include <algorithm>
#include <system_error>

#include "basic/text.hpp"
#include "operations/common/row_checks.hpp"
#include "registry/compile/standalone.hpp"
#include "registry/compile/whole_file.hpp"

namespace quarry::detail {

namespace {

/// Words of C17 and C++20 that are no names, with a space before and behind each.
constexpr std::string_view keywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval "
    "constexpr constinit continue decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int long mutable namespace new "
    "noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "union unsigned using virtual void volatile wchar_t while xor xor_eq ";

bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto goes_on = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, goes_on) &&
         keywords.find(" " + name + " ") == keywords.npos;
}

}  // namespace

Status check_export_name(std::string_view what, const std::string& name) {
  if (is_identifier(name)) return {};
  return {StatusCode::invalid_arguments, std::string(what) + " cannot be exported as " +
                                             detail::quoted(name) +
                                             ": expected a C identifier that is no keyword of C or C++"};
}

Result<std::string> code_file(std::string_view what, const std::string& name, std::string_view entry,
                              bool is_own) {
  if (is_own) return name + ".cubin";
  if (entry != name) return std::string(entry) + ".cubin";
  return Status(StatusCode::invalid_arguments, std::string(what) + " cannot be exported as " +
                                                   detail::quoted(name) +
                                                   ": another of its files has that name");
}

Result<Artifact> exported_code(const Row& row, std::uint32_t entry, const CompileOptions& options) {
  if (Status s = check_compute_capability(row.metadata, options.target); !s) return s;
  if (entry != no_entry) return standalone_artifact(entry, options);
  return Status(StatusCode::not_found, "The library does not have all that runs of " +
                                           detail::quoted(row.metadata.name) + " launch");
}

Status make_export_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::error_code unknown;  // of a folder that cannot even be looked for
  if (std::filesystem::is_directory(folder, unknown)) return {};
  const std::string why = error ? error.message() : "it is there and is not a folder";
  return {StatusCode::file_error, "Cannot make the folder " + detail::quoted(folder.string()) + ": " + why};
}

Status write_export(const std::filesystem::path& folder, const std::string& name,
                    std::span<const std::byte> bytes) {
  return write_whole_file((folder / name).string(), bytes);
}

Status write_export(const std::filesystem::path& folder, const std::string& name, const std::string& text) {
  return write_export(folder, name, std::as_bytes(std::span(text)));
}

}  // namespace quarry::detail
