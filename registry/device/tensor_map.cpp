#include "registry/device/tensor_map.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>

#include "registry/device/cuda_call.hpp"
#include "registry/device/driver_call.hpp"
#include "registry/device/runtime.hpp"

namespace quarry::detail {
namespace {

static_assert(sizeof(CUtensorMap) == sizeof(TensorMap));

/// What is called of the driver, which is not linked.
struct Driver {
  Status status;
  decltype(&cuTensorMapEncodeTiled) encode = nullptr;
  decltype(&cuTensorMapEncodeIm2col) encode_im2col = nullptr;
  decltype(&cuTensorMapReplaceAddress) replace_address = nullptr;
};

template <class Function>
void find(const char* name, Function& function, Status& status) {
  if (find_driver_function(name, function)) return;
  status = {StatusCode::device_error, "The CUDA driver does not know `" + std::string(name) + "`"};
}

Driver ask_driver() {
  Driver driver;
  driver.status = runtime_status();
  if (!driver.status) return driver;
  find("cuTensorMapEncodeTiled", driver.encode, driver.status);
  find("cuTensorMapEncodeIm2col", driver.encode_im2col, driver.status);
  find("cuTensorMapReplaceAddress", driver.replace_address, driver.status);
  return driver;
}

/// Asked once, remembered to the very end of the process.
const Driver& driver() {
  static const Driver& asked = *new Driver(ask_driver());
  return asked;
}

Status unsupported(std::string why) {
  return {StatusCode::unsupported, "A tensor map cannot be encoded: " + std::move(why)};
}

/// The same of how copies walk over images. (cuTensorMapEncodeIm2col)
Status check_walk(const TensorMapFields& f) {
  for (int i = 0; i < 2; ++i) {
    for (const int corner : {f.walk.lower[i], f.walk.upper[i]}) {
      if (corner < -128 || corner > 127)
        return unsupported("a corner of " + std::to_string(corner) + ", expected -128 to 127");
    }
    const long long walked = static_cast<long long>(f.extent[1 + i]) + f.walk.upper[i] - f.walk.lower[i];
    if (walked < 1)
      return unsupported("a walk over " + std::to_string(walked) + " pixels, expected 1 or more");
    if (f.walk.step[i] < 1 || f.walk.step[i] > 8)
      return unsupported("a step of " + std::to_string(f.walk.step[i]) + " pixels, expected 1 to 8");
  }
  return {};
}

/// What the driver would refuse, in words. (CUDA driver API, cuTensorMapEncodeTiled)
Status check(const TensorMapFields& f) {
  constexpr unsigned long long most_extent = 1ULL << 32;
  constexpr unsigned long long least_refused_stride = 1ULL << 40;
  constexpr unsigned most_box = 256;
  const auto rank = static_cast<std::size_t>(f.rank());
  for (const auto extent : std::span(f.extent).first(rank)) {
    if (extent < 1 || extent > most_extent) {
      return unsupported("an extent of " + std::to_string(extent) + ", expected 1 to 4294967296");
    }
  }
  for (const auto stride : std::span(f.stride).first(rank - 1)) {
    if (stride % 16 != 0 || stride >= least_refused_stride) {
      return unsupported("a stride of " + std::to_string(stride) +
                         " bytes, expected a multiple of 16 below 1099511627776");
    }
  }
  for (const auto box : f.box) {
    if (box < 1 || box > most_box)
      return unsupported("a box of " + std::to_string(box) + ", expected 1 to 256");
  }
  if (reinterpret_cast<std::uintptr_t>(f.data) % 16 != 0)
    return unsupported("its address is no multiple of 16 bytes");
  const unsigned line_bytes = f.box[0] * static_cast<unsigned>(bytes_of(f.dtype));
  if (line_bytes == 0 || line_bytes % 16 != 0) {
    return unsupported("a box with lines of " + std::to_string(line_bytes) +
                       " bytes, expected a multiple of 16");
  }
  const unsigned most_bytes = 16U << static_cast<unsigned>(f.swizzle);
  if (f.swizzle != TensorSwizzle::none && line_bytes > most_bytes) {
    return unsupported("a box with lines of " + std::to_string(line_bytes) + " bytes, expected at most the " +
                       std::to_string(most_bytes) + " of its swizzle");
  }
  return f.walks() ? check_walk(f) : Status();
}

/// An enumerator of the driver, and its name.
template <class Enum>
struct Named {
  Enum value;
  std::string_view name;
};
// The name of an enumerator is known to the preprocessor alone.
#define QUARRY_NAMED(enumerator) \
  { enumerator, #enumerator }

/// The types of elements that tensor maps know, of those in the table of element types.
constexpr Named<CUtensorMapDataType> data_types[] = {
    QUARRY_NAMED(CU_TENSOR_MAP_DATA_TYPE_FLOAT16), QUARRY_NAMED(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16),
    QUARRY_NAMED(CU_TENSOR_MAP_DATA_TYPE_FLOAT32), QUARRY_NAMED(CU_TENSOR_MAP_DATA_TYPE_FLOAT64),
    QUARRY_NAMED(CU_TENSOR_MAP_DATA_TYPE_UINT8),   QUARRY_NAMED(CU_TENSOR_MAP_DATA_TYPE_INT32),
};
constexpr Named<CUtensorMapDataType> rounded_to_tf32 = QUARRY_NAMED(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);

/// By TensorSwizzle.
constexpr Named<CUtensorMapSwizzle> swizzles[] = {
    QUARRY_NAMED(CU_TENSOR_MAP_SWIZZLE_NONE),
    QUARRY_NAMED(CU_TENSOR_MAP_SWIZZLE_32B),
    QUARRY_NAMED(CU_TENSOR_MAP_SWIZZLE_64B),
    QUARRY_NAMED(CU_TENSOR_MAP_SWIZZLE_128B),
};

constexpr Named<CUtensorMapInterleave> interleave_of_all = QUARRY_NAMED(CU_TENSOR_MAP_INTERLEAVE_NONE);
// A miss fetches 128 bytes. 256 made streams of weights 2.5% slower on an H200, and lines that are no
// multiples of 128 bytes 13%.
constexpr Named<CUtensorMapL2promotion> promotion_of_all = QUARRY_NAMED(CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
constexpr Named<CUtensorMapFloatOOBfill> fill_of_all = QUARRY_NAMED(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
#undef QUARRY_NAMED

/// The type of a tensor's elements. Null where there are no such tensors.
const Named<CUtensorMapDataType>* type_of(const TensorMapFields& fields) {
  if (fields.rounds_to_tf32) return fields.dtype == DType::f32 ? &rounded_to_tf32 : nullptr;
  const int code = info_of(fields.dtype).tensor_map_type;
  const auto found = std::ranges::find_if(data_types, [code](const auto& t) { return t.value == code; });
  return found == std::end(data_types) ? nullptr : &*found;
}

// The table of types holds the driver's numbers.
static_assert(info_of(DType::f16).tensor_map_type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
static_assert(info_of(DType::bf16).tensor_map_type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(info_of(DType::f32).tensor_map_type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
static_assert(info_of(DType::f64).tensor_map_type == CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
static_assert(info_of(DType::s8).tensor_map_type == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(info_of(DType::u8).tensor_map_type == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(info_of(DType::s32).tensor_map_type == CU_TENSOR_MAP_DATA_TYPE_INT32);
static_assert(info_of(DType::e4m3).tensor_map_type == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(info_of(DType::e5m2).tensor_map_type == CU_TENSOR_MAP_DATA_TYPE_UINT8);

const Named<CUtensorMapSwizzle>& to_driver(TensorSwizzle swizzle) {
  return swizzles[static_cast<std::size_t>(swizzle)];
}

Status driver_status(CUresult result) {
  if (result == CUDA_SUCCESS) return {};
  return {StatusCode::device_error, "The CUDA driver refuses to encode a tensor map (CUDA error " +
                                        std::to_string(static_cast<int>(result)) + ")"};
}

/// Calls the driver, which needs a context: a thread that has called nothing of the runtime has none yet.
template <class Call>
CUresult with_context(const Call& call) {
  const CUresult result = call();
  int device = 0;
  if (result != CUDA_ERROR_INVALID_CONTEXT || cudaGetDevice(&device) != cudaSuccess ||
      cudaSetDevice(device) != cudaSuccess) {
    return result;
  }
  return call();
}

/// Calls `use` with each map of a launch: its fields over the operand of a run, and its slot in the image.
template <class Use>
Status for_each_map(const Launch& launch, const PlanOperands& pointers, std::byte* image, const Use& use) {
  for (const Relocation& relocation : launch.relocations) {
    if (relocation.kind != Relocation::Kind::map) continue;
    TensorMapFields fields = launch.maps[relocation.map];
    fields.data = static_cast<const std::byte*>(pointers[relocation.source]) + relocation.offset;
    if (Status s = use(fields, image + relocation.at); !s) return s;
  }
  return {};
}

Status move(const TensorMapFields& fields, std::byte* slot) {
  CUtensorMap encoded;  // which may have to be aligned more than a slot
  std::memcpy(&encoded, slot, sizeof encoded);
  const CUresult result =
      with_context([&] { return driver().replace_address(&encoded, const_cast<void*>(fields.data)); });
  std::memcpy(slot, &encoded, sizeof encoded);
  return driver_status(result);
}

CUresult encode(const TensorMapFields& fields, CUtensorMapDataType type, CUtensorMap& map) {
  cuuint64_t extent[4];
  cuuint64_t stride[3];
  std::copy(std::begin(fields.extent), std::end(fields.extent), extent);
  std::copy(std::begin(fields.stride), std::end(fields.stride), stride);
  void* const data = const_cast<void*>(fields.data);
  const CUtensorMapSwizzle swizzle = to_driver(fields.swizzle).value;
  const PixelWalk& walk = fields.walk;
  if (!fields.walks()) {
    const cuuint32_t steps[3] = {1, 1, 1};
    return driver().encode(&map, type, 3, data, extent, stride, fields.box, steps, interleave_of_all.value,
                           swizzle, promotion_of_all.value, fill_of_all.value);
  }
  const int lower[2] = {walk.lower[0], walk.lower[1]};
  const int upper[2] = {walk.upper[0], walk.upper[1]};
  const cuuint32_t steps[4] = {1, walk.step[0], walk.step[1], 1};
  return driver().encode_im2col(&map, type, 4, data, extent, stride, lower, upper, fields.box[0],
                                fields.box[1], steps, interleave_of_all.value, swizzle,
                                promotion_of_all.value, fill_of_all.value);
}

}  // namespace

Status encode_tensor_map(const TensorMapFields& fields, TensorMap& map) {
  const Named<CUtensorMapDataType>* const type = type_of(fields);
  if (type == nullptr)
    return unsupported("there are no tensors of type " + std::string(to_string(fields.dtype)) +
                       (fields.rounds_to_tf32 ? ", rounded to tf32" : ""));
  if (Status s = check(fields); !s) return s;
  if (Status s = driver().status; !s) return s;
  CUtensorMap encoded;
  const CUresult result = with_context([&] { return encode(fields, type->value, encoded); });
  if (Status s = driver_status(result); !s) return s;
  std::memcpy(&map, &encoded, sizeof map);
  return {};
}

TensorMapWords words_of(const TensorMapFields& fields) {
  const Named<CUtensorMapDataType>* const type = type_of(fields);
  return {.type = type == nullptr ? std::string_view() : type->name,
          .interleave = interleave_of_all.name,
          .swizzle = to_driver(fields.swizzle).name,
          .promotion = promotion_of_all.name,
          .fill = fill_of_all.name};
}

Status encode_tensor_maps(const Launch& launch, const PlanOperands& pointers, std::byte* image) {
  return for_each_map(launch, pointers, image, [](TensorMapFields& fields, std::byte* slot) -> Status {
    // Never read: a plan's operands come with its runs.
    if (fields.data == nullptr) fields.data = reinterpret_cast<const void*>(std::uintptr_t{1} << 12);
    TensorMap map;
    if (Status s = encode_tensor_map(fields, map); !s) return s;
    std::memcpy(slot, &map, sizeof map);
    return {};
  });
}

Status move_tensor_maps(const Launch& launch, const PlanOperands& pointers, std::byte* image) {
  return for_each_map(launch, pointers, image, move);
}

}  // namespace quarry::detail
