#include "lab/docs/fields_page.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "quarry/fields.hpp"
#include "quarry/registry.hpp"

namespace quarry::lab {
namespace {

constexpr std::string_view introduction =
    R"(<!-- Generated from registry/metadata/fields.cpp; do not edit. -->
# Metadata fields

Fields describe a kernel. Filters (`--where`, `Filter::parse`, `QUARRY_AOT`, the constraints of a `space.json`) compare them, and
the command shows them as columns and in JSON. The name of a field is its full path or any end of the path that belongs to no
other field; the table lists the shortest name first. A kernel may lack a field that is marked optional. Then every comparison
with it is false; `has(field)` says whether the kernel has it.

| field | full path | type | meaning |
| --- | --- | --- | --- |
)";

constexpr std::string_view language = R"(
## The filter language

    cc == 80 and a.dtype in (f16, bf16) and tile.m * tile.n >= 128 * 128 and not split_k_serial

Operators, from the lowest precedence to the highest:

| operator | meaning |
| --- | --- |
| `or`, `\|\|` | either |
| `and`, `&&` | both |
| `not`, `!` | the opposite |
| `==` `!=` `<` `<=` `>` `>=` | comparison of two expressions of one type; words and booleans have no order |
| `x in (y, z)` | equal to one of them |
| `x ~ y` | the text or word `x` contains the text `y`: `name ~ 'sm80'` |
| `+` `-` | numbers |
| `*` `/` `%` | numbers; `/` of two integers is rounded towards zero, `%` takes integers only |
| `-` | negation |
| `(...)`, `has(field)` | grouping; whether the kernel has a field or any field of a part, such as `has(warps)` |

Values are integers (64 bits), decimals (`1.5`, `2e3`), `'text'` or `"text"`, `true`, `false`, fields, and words. A bare word that
is compared with a field of words or text stands for itself. A comparison is false if it needs a field that the kernel lacks,
divides by zero, or overflows. So `not (stages == 3)` also selects kernels that have no stages.
)";

/// The words a field may hold: "`row`, `column`".
/// Whether one of the kernels lacks it.
bool may_be_absent(const MetadataField& field, std::span<const Kernel> kernels) {
  return std::ranges::any_of(kernels, [&](const Kernel& kernel) {
    return std::holds_alternative<std::monostate>(field_value(field, kernel.metadata()));
  });
}

std::string words_of(const MetadataField& field) {
  std::string list;
  for (const std::string_view word : field.words) {
    list.append(list.empty() ? "`" : ", `").append(word).append("`");
  }
  return list;
}

}  // namespace

std::string fields_page() {
  std::string page(introduction);
  const std::vector<Kernel> kernels = get_kernels();
  for (const MetadataField& field : metadata_fields()) {
    page.append("| `").append(field.name).append("` | `").append(field.path).append("` | ");
    page.append(field.type == FieldType::word ? words_of(field) : std::string(to_string(field.type)));
    if (may_be_absent(field, kernels)) page.append(", optional");
    page.append(" | ").append(field.help).append(" |\n");
  }
  return page.append(language);
}

}  // namespace quarry::lab
