/// A stand-in for cuDNN, which convolves in host memory what its graph was told: that must give the result of
/// the problem.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "operations/common/host/element.hpp"
#include "operations/conv2d/lab/cudnn.hpp"
#include "support/catch_compat.hpp"
#include "support/random_convolution.hpp"

namespace quarry::lab {

// The stand-in's own objects.
struct CudnnContext {};
struct CudnnObject {
  struct Attribute {
    int type = 0;
    std::vector<std::byte> bytes = {};
  };
  int kind = 0;
  bool is_finished = false;
  int engine = 0;
  std::map<int, Attribute> told = {};

  template <class Value>
  std::vector<Value> all(int attribute) const {
    const std::vector<std::byte>& bytes = told.at(attribute).bytes;
    std::vector<Value> values(bytes.size() / sizeof(Value));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  template <class Value>
  Value one(int attribute) const {
    const std::vector<Value> values = all<Value>(attribute);
    REQUIRE(values.size() == 1);
    return values[0];
  }
};

}  // namespace quarry::lab

namespace quarry::test {

using namespace quarry::lab;
using lab::conv2d::CudnnProblem;
using lab::conv2d::Extents;
using lab::conv2d::Lab;
using Convolution = lab::conv2d::Problem;

/// What lives, and what the last finished objects were told.
inline int objects = 0;
inline std::map<int, CudnnObject> last_finished;
/// Notes of the engines that both kinds of heuristics offer.
inline std::vector<std::vector<int>> engines;

inline std::size_t bytes_of_value(int type) {
  return type == dnn_int64 || type == dnn_double || type == dnn_pointer || type == dnn_object ||
                 type == dnn_context
             ? 8
             : 4;
}

inline DType dtype_of(int type) {
  constexpr DType types[] = {DType::f32,  DType::f64, DType::f16,  DType::s8,   DType::s32,
                             DType::none, DType::u8,  DType::none, DType::none, DType::bf16};
  return types[type];
}

/// A tensor as told, in our order of extents.
struct Told {
  DType type;
  Extents extents;
  Extents strides;
  void* data;

  std::int64_t at(const std::array<std::int64_t, 4>& place) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      REQUIRE(place[i] < extents[i]);
      offset += place[i] * strides[i];
    }
    return offset;
  }
};

inline Told tensor_of(const CudnnObject& tensor, const CudnnObject& pack) {
  const auto last_channel = [](const std::vector<std::int64_t>& v) {
    REQUIRE(v.size() == 4);
    return Extents{v[0], v[2], v[3], v[1]};
  };
  const auto ids = pack.all<std::int64_t>(dnn_pack_ids);
  const auto pointers = pack.all<void*>(dnn_pack_pointers);
  REQUIRE(ids.size() == pointers.size());
  const auto id = tensor.one<std::int64_t>(dnn_tensor_id);
  const auto found = std::ranges::find(ids, id);
  REQUIRE(found != ids.end());
  return {dtype_of(tensor.one<int>(dnn_tensor_type)),
          last_channel(tensor.all<std::int64_t>(dnn_tensor_extents)),
          last_channel(tensor.all<std::int64_t>(dnn_tensor_strides)),
          pointers[static_cast<std::size_t>(found - ids.begin())]};
}

/// Runs the convolution of a plan.
inline int execute(CudnnContext*, CudnnObject* plan, CudnnObject* pack) {
  REQUIRE(plan->is_finished);
  REQUIRE(pack->is_finished);
  const auto* graph = last_finished.at(dnn_graph).one<CudnnObject*>(dnn_graph_operations);
  const int first = graph->kind == dnn_fprop   ? dnn_fprop_alpha
                    : graph->kind == dnn_dgrad ? dnn_dgrad_alpha
                                               : dnn_wgrad_alpha;
  const auto tensor = [&](int number) { return tensor_of(*graph->one<CudnnObject*>(first + number), *pack); };
  const Told w = tensor(3), x = tensor(4), y = tensor(5);
  const auto* windows = graph->one<CudnnObject*>(first + 2);
  const auto axes = [&](int attribute) {
    const auto values = windows->all<std::int64_t>(attribute);
    REQUIRE(values.size() == 2);
    return ImageAxes{values[0], values[1]};
  };
  REQUIRE(windows->one<std::int64_t>(dnn_convolution_axes) == 2);
  REQUIRE(axes(dnn_convolution_padding_behind) == axes(dnn_convolution_padding_before));
  Conv2dArguments args;
  args.padding = axes(dnn_convolution_padding_before);
  args.stride = axes(dnn_convolution_strides);
  args.dilation = axes(dnn_convolution_dilations);
  args.groups = x.extents[3] / w.extents[3];
  args.flips = windows->one<int>(dnn_convolution_kind) == dnn_true_convolution;
  const Told& out = graph->kind == dnn_fprop ? y : graph->kind == dnn_dgrad ? x : w;
  std::map<std::int64_t, double> sums;
  const auto value = [](const Told& t, const auto& place) {
    return host::read_element(t.type, t.data, t.at(place));
  };
  each_product(args, x.extents, w.extents, y.extents, [&](auto at_x, auto at_w, auto at_y) {
    if (&out == &y) sums[y.at(at_y)] += value(x, at_x) * value(w, at_w);
    if (&out == &x) sums[x.at(at_x)] += value(y, at_y) * value(w, at_w);
    if (&out == &w) sums[w.at(at_w)] += value(y, at_y) * value(x, at_x);
  });
  const Extents& e = out.extents;
  for (std::int64_t i = 0; i < e[0] * e[1] * e[2] * e[3]; ++i) {
    const std::int64_t offset =
        out.at({i / e[3] / e[2] / e[1], i / e[3] / e[2] % e[1], i / e[3] % e[2], i % e[3]});
    host::write_element(out.type, out.data, offset, sums[offset]);
  }
  return 0;
}

/// What heuristics, configs and plans answer.
inline int get(const CudnnObject* object, int attribute, int, std::int64_t asked, std::int64_t* count,
               void* values) {
  auto** const objects_out = static_cast<CudnnObject**>(values);
  switch (attribute) {
    case dnn_heuristics_results:
      *count = std::min(asked, std::ssize(engines));
      for (std::int64_t i = 0; i < *count; ++i) objects_out[i]->engine = static_cast<int>(i);
      return 0;
    case dnn_config_engine:
      *count = 1;
      objects_out[0]->engine = object->engine;
      return 0;
    case dnn_engine_notes: {
      const std::vector<int>& notes = engines[static_cast<std::size_t>(object->engine)];
      *count = std::ssize(notes);
      std::ranges::copy(notes, static_cast<int*>(values));
      return 0;
    }
    case dnn_plan_workspace:
      *count = 1;
      *static_cast<std::int64_t*>(values) = 0;
      return 0;
    default: return 7;
  }
}

inline CudnnFunctions cudnn_stand_in() {
  CudnnFunctions f = {};
  f.version = [] { return std::size_t{91900}; };
  f.error_string = [](int) { return "what the library says"; };
  f.create = [](CudnnContext** context) {
    ++objects;
    *context = new CudnnContext;
    return 0;
  };
  f.destroy = [](CudnnContext* context) {
    --objects;
    delete context;
    return 0;
  };
  f.set_stream = [](CudnnContext*, CUstream_st*) { return 0; };
  f.make = [](int kind, CudnnObject** object) {
    ++objects;
    *object = new CudnnObject{.kind = kind};
    return 0;
  };
  f.unmake = [](CudnnObject* object) {
    --objects;
    delete object;
    return 0;
  };
  f.finalize = [](CudnnObject* object) {
    object->is_finished = true;
    last_finished[object->kind] = *object;
    return 0;
  };
  f.set = [](CudnnObject* object, int attribute, int type, std::int64_t count, const void* values) {
    if (object->is_finished) return 7;
    const auto* bytes = static_cast<const std::byte*>(values);
    object->told[attribute] = {type, {bytes, bytes + static_cast<std::size_t>(count) * bytes_of_value(type)}};
    return 0;
  };
  f.get = get;
  f.execute = execute;
  return f;
}

}  // namespace quarry::test
