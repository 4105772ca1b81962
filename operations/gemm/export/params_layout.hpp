/// How the parameter structs of kernels lie in memory, taken from the structs themselves: what an exported
/// kernel tells those who launch it without this library.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace quarry::detail {

/// One member of a struct.
struct ParamField {
  std::string_view name;
  /// Its type in C: a number, a pointer, or the name of another of these structs.
  std::string_view type;
  std::size_t offset = 0;
  std::size_t size = 0;
  /// Elements of an array of the type; 0: it is no array.
  std::size_t count = 0;
  std::string_view meaning;
};

/// One struct. There is only padding beside its members.
struct ParamStruct {
  /// Its name in C.
  std::string_view name;
  std::size_t bytes = 0;
  std::size_t alignment = 0;
  std::span<const ParamField> fields;
  std::string_view meaning;
};

/// All of them, each behind those that it has members of.
std::span<const ParamStruct> param_structs();

/// The one of this name in C; null for the type of a number or a pointer.
const ParamStruct* find_param_struct(std::string_view name);

/// What a kernel is launched with, and a reduction.
inline constexpr std::string_view gemm_params_name = "quarry_gemm_params";
inline constexpr std::string_view reduce_params_name = "quarry_reduce_params";

/// The same with an expression compiled in: the parameters above, and behind them its tensors.
inline constexpr std::string_view gemm_expression_params_name = "quarry_gemm_expression_params";
inline constexpr std::string_view reduce_expression_params_name = "quarry_reduce_expression_params";
inline constexpr std::string_view expression_tensor_name = "quarry_expression_tensor";

}  // namespace quarry::detail
