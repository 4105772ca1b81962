#include "lab/docs/fields_page.hpp"

#include <algorithm>
#include <string>

#include "quarry/fields.hpp"

namespace quarry::lab {
namespace {

constexpr std::string_view introduction =
    R"(<!-- Generated from registry/metadata/fields.cpp; do not edit. -->
# Metadata fields

What can be asked of a kernel: in a filter (`--where`, `Filter::parse`, `QUARRY_AOT`, the constraints of a
`space.json`), as a column of the command's tables, and in its JSON. A field goes by any end of its full path that no other
field has; the shortest one is listed first. A kernel may lack a field that is marked optional: every comparison with it is
then false, and `has(field)` tells.

| field | full path | type | meaning |
| --- | --- | --- | --- |
)";

constexpr std::string_view language = R"(
## The filter language

    cc == 80 and a.dtype in (f16, bf16) and tile.m * tile.n >= 128 * 128 and not split_k_serial

From the loosest binding to the tightest:

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

Values are integers (64 bits), decimals (`1.5`, `2e3`), `'text'` or `"text"`, `true`, `false`, fields, and words: a bare word
stands for itself beside a field that takes words or text. A comparison is false when it needs a field that the kernel lacks,
divides by zero or leaves the range of its numbers, so `not (stages == 3)` takes kernels that have no stages.
)";

/// The words a field may hold: "`row`, `column`".
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
  const KernelMetadata nothing;
  for (const MetadataField& field : metadata_fields()) {
    page.append("| `").append(field.name).append("` | `").append(field.path).append("` | ");
    page.append(field.type == FieldType::word ? words_of(field) : std::string(to_string(field.type)));
    if (field_value(field, nothing).index() == 0) page.append(", optional");
    page.append(" | ").append(field.help).append(" |\n");
  }
  return page.append(language);
}

}  // namespace quarry::lab
