/// The parts that configs are made of, as values of settings and as C++: numbers, enumerators, and structs of
/// two or three of them. Host only.
#pragma once

#include <string>
#include <type_traits>

#include "basic/words.hpp"
#include "config_text.hpp"

namespace quarry {

/// How C++ spells the values of an enumeration. Families add an overload of `enum_text` for their own.
struct EnumText {
  std::string_view type;  ///< "quarry::Math"
  std::span<const std::string_view> enumerators;
};

inline constexpr std::string_view epilogue_kind_words[] = {"standard", "fast_clamp"};

constexpr EnumText enum_text(DType) { return {"quarry::DType", detail::dtype_words}; }
constexpr EnumText enum_text(Direction) { return {"quarry::Direction", detail::direction_words}; }
constexpr EnumText enum_text(Layout) { return {"quarry::Layout", detail::layout_words}; }
constexpr EnumText enum_text(Math) { return {"quarry::Math", detail::math_words}; }
constexpr EnumText enum_text(Schedule) { return {"quarry::Schedule", detail::schedule_words}; }
constexpr EnumText enum_text(CopyEngine) { return {"quarry::CopyEngine", detail::copy_engine_words}; }
constexpr EnumText enum_text(Orientation) { return {"quarry::Orientation", detail::orientation_words}; }
constexpr EnumText enum_text(WindowIterator) { return {"quarry::WindowIterator", detail::iterator_words}; }
constexpr EnumText enum_text(WindowStrides) { return {"quarry::WindowStrides", detail::strides_words}; }
constexpr EnumText enum_text(WindowFilter) { return {"quarry::WindowFilter", detail::filter_words}; }
constexpr EnumText enum_text(ScaleSupport) { return {"quarry::ScaleSupport", detail::scale_support_words}; }
constexpr EnumText enum_text(EpilogueKind) { return {"quarry::EpilogueKind", epilogue_kind_words}; }

namespace detail {

/// Stands for a member of any type.
struct AnyMember {
  template <class T>
  constexpr operator T() const;
};

/// How many members an aggregate has.
template <class Aggregate, class... Members>
consteval std::size_t member_count() {
  if constexpr (requires { Aggregate{Members{}..., AnyMember{}}; }) {
    return member_count<Aggregate, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

template <class Part>
inline constexpr bool is_scalar = std::is_same_v<Part, int> || std::is_enum_v<Part>;

template <class Part>
consteval SettingKind kind_of() {
  if (std::is_same_v<Part, DType>) return SettingKind::dtype;
  if (std::is_same_v<Part, Layouts>) return SettingKind::layouts;
  if (std::is_same_v<Part, int>) return SettingKind::integer;
  return member_count<Part>() == 2 ? SettingKind::pair : SettingKind::triple;
}

template <class Part>
constexpr SettingValue value_of_part(const Part& part) {
  if constexpr (is_scalar<Part>) {
    return {static_cast<int>(part)};
  } else if constexpr (member_count<Part>() == 2) {
    const auto& [first, second] = part;
    return {static_cast<int>(first), static_cast<int>(second)};
  } else {
    const auto& [first, second, third] = part;
    return {static_cast<int>(first), static_cast<int>(second), static_cast<int>(third)};
  }
}

template <class Part>
constexpr void set_part(Part& part, const SettingValue& value) {
  const auto set = [](auto& scalar, int number) {
    scalar = static_cast<std::remove_reference_t<decltype(scalar)>>(number);
  };
  if constexpr (is_scalar<Part>) {
    set(part, value[0]);
  } else if constexpr (member_count<Part>() == 2) {
    auto& [first, second] = part;
    set(first, value[0]), set(second, value[1]);
  } else {
    auto& [first, second, third] = part;
    set(first, value[0]), set(second, value[1]), set(third, value[2]);
  }
}

template <class Scalar>
std::string scalar_literal(Scalar scalar) {
  if constexpr (std::is_enum_v<Scalar>) {
    const EnumText text = enum_text(scalar);
    return std::string(text.type) + "::" + std::string(word_of(text.enumerators, scalar));
  } else {
    return std::to_string(scalar);
  }
}

/// "quarry::Math::exact", "4", "{128, 128, 32}"
template <class Part>
std::string part_literal(const Part& part) {
  if constexpr (is_scalar<Part>) {
    return scalar_literal(part);
  } else if constexpr (member_count<Part>() == 2) {
    const auto& [first, second] = part;
    return "{" + scalar_literal(first) + ", " + scalar_literal(second) + "}";
  } else {
    const auto& [first, second, third] = part;
    return "{" + scalar_literal(first) + ", " + scalar_literal(second) + ", " + scalar_literal(third) + "}";
  }
}

}  // namespace detail
}  // namespace quarry
