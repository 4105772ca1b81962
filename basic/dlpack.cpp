/// Views of DLPack tensors. Codes and devices are as in dlpack.h, which has kept them since its first
/// version.
#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "quarry/tensor.hpp"

namespace quarry::detail {
namespace {

constexpr std::span all_types = std::span(element_types.rows).subspan(1);  // without `none`

std::optional<DType> dtype_of(int code, int bits) {
  for (const TypeInfo& info : all_types) {
    if (info.dlpack_code == code && info.bits == bits) return info.type;
  }
  return std::nullopt;
}

/// "f16, bf16, ... or u4".
std::string type_names() {
  std::string text;
  for (const TypeInfo& info : all_types) {
    const bool is_last = &info == &all_types.back();
    text.append(text.empty() ? "" : is_last ? " or " : ", ").append(info.name);
  }
  return text;
}

/// The name of any type of DLPack in other libraries: "int64", "bool", "complex64".
std::string type_word(int code, int bits) {
  struct Word {
    int code;
    std::string_view text;
    int bits = 0;  ///< 0: the code has several types, whose names end with the bits
  };
  static constexpr Word words[] = {{0, "int"},
                                   {1, "uint"},
                                   {2, "float"},
                                   {4, "bfloat"},
                                   {5, "complex"},
                                   {6, "bool", 8},
                                   {7, "float8_e3m4", 8},
                                   {8, "float8_e4m3", 8},
                                   {9, "float8_e4m3b11fnuz", 8},
                                   {10, "float8_e4m3fn", 8},
                                   {11, "float8_e4m3fnuz", 8},
                                   {12, "float8_e5m2", 8},
                                   {13, "float8_e5m2fnuz", 8},
                                   {14, "float8_e8m0fnu", 8},
                                   {15, "float6_e2m3fn", 6},
                                   {16, "float6_e3m2fn", 6},
                                   {17, "float4_e2m1fn", 4}};
  for (const Word& word : words) {
    if (word.code != code) continue;
    if (word.bits == 0) return std::string(word.text) + std::to_string(bits);
    if (word.bits == bits) return std::string(word.text);
  }
  return "type code " + std::to_string(code) + " with " + std::to_string(bits) + " bits";
}

std::optional<MemoryKind> memory_of(int device_type) {
  switch (device_type) {
    case 1: return MemoryKind::host;      // kDLCPU
    case 2: return MemoryKind::device;    // kDLCUDA
    case 3: return MemoryKind::pinned;    // kDLCUDAHost
    case 13: return MemoryKind::managed;  // kDLCUDAManaged
    default: return std::nullopt;
  }
}

Status refused(const std::string& expected, const std::string& got) {
  return {StatusCode::invalid_arguments,
          "DLPack tensor is unsupported: expected " + expected + ", got " + got};
}

/// Strides of a packed row-major tensor; false when they do not fit 64 bits.
bool pack(TensorView& view) {
  std::int64_t stride = 1;
  for (std::size_t i = view.rank; i-- > 0;) {
    view.strides[i] = stride;
    const std::int64_t extent = std::max<std::int64_t>(view.extents[i], 1);
    if (__builtin_mul_overflow(stride, extent, &stride)) return false;
  }
  return true;
}

/// Type, rank, place and extents: what can be told without following a pointer but `shape`.
Status check(const DlpackFields& tensor) {
  if (tensor.rank < 1 || tensor.rank > TensorView::max_rank) {
    return refused("rank 1 to 4", "rank " + std::to_string(tensor.rank));
  }
  if (tensor.type_lanes != 1) return refused("1 lane", std::to_string(tensor.type_lanes) + " lanes");
  if (!dtype_of(tensor.type_code, tensor.type_bits)) {
    return refused("elements of " + type_names(), type_word(tensor.type_code, tensor.type_bits));
  }
  const auto memory = memory_of(tensor.device_type);
  if (!memory) {
    return refused("device type 1 (CPU), 2 (CUDA), 3 (CUDA host) or 13 (CUDA managed)",
                   std::to_string(tensor.device_type));
  }
  if (*memory != MemoryKind::host && tensor.device_id < 0) {
    return refused("a device id of 0 or more", std::to_string(tensor.device_id));
  }
  if (tensor.shape == nullptr) return refused("a shape", "a null pointer");
  for (int i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] < 0) return refused("extents of 0 or more", std::to_string(tensor.shape[i]));
  }
  return {};
}

}  // namespace

Result<TensorView> from_dlpack(const DlpackFields& tensor) {
  if (Status status = check(tensor); !status) return status;
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (tensor.byte_offset > std::numeric_limits<std::uintptr_t>::max() - address) {
    return refused("a byte offset within memory", std::to_string(tensor.byte_offset));
  }
  TensorView view;
  // A null pointer stays one, whatever its offset: it is a fake tensor.
  view.data = tensor.data == nullptr ? nullptr : reinterpret_cast<const void*>(address + tensor.byte_offset);
  view.dtype = *dtype_of(tensor.type_code, tensor.type_bits);
  view.rank = static_cast<std::uint8_t>(tensor.rank);
  const MemoryKind kind = *memory_of(tensor.device_type);
  view.memory = {kind, kind == MemoryKind::host ? 0 : tensor.device_id};
  std::copy_n(tensor.shape, tensor.rank, view.extents.begin());
  if (tensor.strides != nullptr) {
    std::copy_n(tensor.strides, tensor.rank, view.strides.begin());
  } else if (!pack(view)) {
    return refused("extents whose product fits 64 bits", "more");
  }
  return view;
}

}  // namespace quarry::detail
