#include <algorithm>

#include "basic/text.hpp"
#include "basic/words.hpp"
#include "operations/common/expression/lexer.hpp"
#include "quarry/expression.hpp"
#include "quarry/tensor.hpp"

namespace quarry::expression {
namespace {

constexpr std::string_view shape_words[] = {"scalar", "per_row", "per_column", "row", "col", "gathered"};

/// A list of declarations, read from its front.
class Reader {
 public:
  Reader(std::string_view text, DType sum) : text_(text), declared_{.sum = sum} {}

  Result<Declarations> list() {
    if (text_.size() > max_text_bytes) return error("the list of tensors is too long", max_text_bytes);
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find(',', at), text_.size());
      if (Status status = item(at, end); !status) return status;
      at = end + 1;
      if (end + 1 == text_.size()) return error("expected NAME=TYPE:SHAPE behind the comma", end + 1);
    }
    return declared_;
  }

 private:
  Status error(const std::string& what, std::size_t offset, StatusCode code = StatusCode::parse_error) const {
    return detail::error_at(code, what, text_, offset);
  }

  /// The text from `at` to `end`, without spaces around it; `at` moves to its begin.
  std::string_view trimmed(std::size_t& at, std::size_t end) const {
    while (at < end && text_[at] == ' ') ++at;
    while (end > at && text_[end - 1] == ' ') --end;
    return text_.substr(at, end - at);
  }

  Status item(std::size_t at, std::size_t end) {
    const std::string_view whole = trimmed(at, end);
    const std::size_t equal = whole.find('=');
    if (equal == whole.npos) {
      return error("expected NAME=TYPE:SHAPE, got " + detail::quoted(whole), at);
    }
    std::size_t type_at = at + equal + 1;
    const std::size_t type_end = std::min(text_.find(':', type_at), at + whole.size());
    const std::string_view name = trimmed(at, at + equal);
    if (!detail::is_tensor_name(name))
      return error(detail::quoted(name) + " cannot be the name of a tensor", at);
    for (const Tensor& tensor : declared_.tensors) {
      if (tensor.name == name) return error(detail::quoted(name) + " is declared twice", at);
    }
    const std::size_t item_end = at + whole.size();
    const std::string_view type_word = trimmed(type_at, type_end);
    const Result<DType> type = parse_dtype(type_word);
    if (!type) return error(type.status().message(), type_at, type.status().code());
    Tensor tensor = {.name = std::string(name), .dtype = *type};
    if (type_end < item_end) {
      std::size_t shape_at = type_end + 1;
      if (Status status = shape(shape_at, item_end, tensor); !status) return status;
    }
    declared_.tensors.push_back(std::move(tensor));
    return {};
  }

  Status shape(std::size_t at, std::size_t end, Tensor& tensor) const {
    std::string_view word = trimmed(at, end);
    if (word == "column") word = "col";
    const auto shape = detail::value_of(shape_words, word);
    if (!shape) return error(detail::unknown_word("shape", word, shape_words), at, StatusCode::not_found);
    tensor.shape = static_cast<Shape>(*shape);
    return {};
  }

  std::string_view text_;
  Declarations declared_;
};

}  // namespace

std::string_view to_string(Shape shape) { return detail::word_of(shape_words, shape); }

Result<Declarations> Declarations::parse(std::string_view text, DType sum) {
  return Reader(text, sum).list();
}

std::string Declarations::text() const {
  std::string list;
  for (const Tensor& tensor : tensors) {
    if (!list.empty()) list += ",";
    list.append(tensor.name).append("=").append(to_string(tensor.dtype));
    if (tensor.shape) list.append(":").append(to_string(*tensor.shape));
  }
  return list;
}

}  // namespace quarry::expression
