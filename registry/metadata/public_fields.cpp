/// The list of fields as programs see it (quarry/fields.hpp).
#include "quarry/fields.hpp"

#include "basic/words.hpp"
#include "registry/metadata/fields.hpp"

namespace quarry {
namespace {

/// Made when it is first asked for, and never destroyed.
const std::vector<MetadataField>& made_fields() {
  static const auto* const fields = [] {
    auto* const made = new std::vector<MetadataField>;
    for (const detail::Field& field : detail::all_fields()) {
      made->push_back(
          {detail::shortest_path(field), field.path, field.type, field.words, field.help, made->size()});
    }
    return made;
  }();
  return *fields;
}

}  // namespace

std::span<const MetadataField> metadata_fields() { return made_fields(); }

Result<MetadataField> find_metadata_field(std::string_view path) {
  const Result<const detail::Field*> field = detail::find_field(path);
  if (!field) return field.status();
  return made_fields()[static_cast<std::size_t>(*field - detail::all_fields().data())];
}

FieldValue field_value(const MetadataField& field, const KernelMetadata& kernel) {
  const detail::Field& own = detail::all_fields()[field.number];
  if (own.text != nullptr) return own.text(kernel);
  const detail::Number number = own.number(kernel);
  if (!number.present) return {};
  switch (own.type) {
    case FieldType::boolean: return number.value != 0;
    case FieldType::word: return detail::word_of(own.words, number.value);
    default: return number.value;
  }
}

}  // namespace quarry
