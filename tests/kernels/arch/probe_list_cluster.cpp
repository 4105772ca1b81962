#include "tests/kernels/arch/probe.hpp"
#include "tests/kernels/arch/probe_params.hpp"

namespace quarry::test {
namespace {

constexpr std::size_t threads = probes::usual.threads;
/// Where probes/tensor_copy.cuh has boxes in shared memory.
constexpr unsigned boxes_at = 1024;

template <std::size_t count>
Words words(Random& random) {
  return random_words(random, count);
}

/// Tensors that are loaded: 40 x 9 x 3, and of a box whose lines fit the swizzle.
constexpr std::array<unsigned, 4> loaded = {40, 9, 3};
constexpr std::size_t loaded_words = 40 * 9 * 3;
constexpr std::size_t boxes = 12;
constexpr unsigned cast_blocks = 4;

/// The tensor, then places of boxes: inside, at each edge, and outside. Along a line they begin at multiples
/// of 16 bytes, as they must.
Words tensor_and_places(Random& random, std::size_t count) {
  Words in = random_words(random, loaded_words);
  constexpr int most[] = {40, 9, 3};
  constexpr int step[] = {4, 1, 1};
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const int steps = most[axis] / step[axis];
      const int at = static_cast<int>(random.below(static_cast<std::uint32_t>(2 * steps))) - steps / 2;
      in.push_back(static_cast<std::uint32_t>(at * step[axis]));
    }
  }
  return in;
}
Words loads(Random& random) { return tensor_and_places(random, boxes); }

/// The same with numbers that tf32 has no room for: halfway between two of its numbers, next to that, the
/// greatest, infinite, NaN of any payload.
Words loads_of_f32(Random& random) {
  constexpr std::uint32_t bits[] = {0x3f801000, 0x3f803000, 0x3f800fff, 0x3f801001, 0x00001000, 0x00001001,
                                    0x007ff000, 0x7f7fefff, 0x7f7ff000, 0x7f7fffff, 0x7f800000, 0x7f800001,
                                    0x7f801000, 0x7fc00001, 0x7fffffff, 0x00000000};
  Words in = tensor_and_places(random, boxes);
  for (std::size_t i = 0; i < loaded_words; i += 2)
    in[i] = bits[random.below(std::size(bits))] | (random.below(2) << 31);
  return in;
}

/// The tensor, then matrices within it, as the probe of maps needs them: from a multiple of 16 bytes on.
Words matrices(Random& random) {
  Words in = random_words(random, loaded_words);
  for (std::size_t i = 0; i < boxes; ++i) {
    in.push_back(40 * random.below(16) + 4 * random.below(5));
    in.push_back(1 + random.below(20));
    in.push_back(1 + random.below(9));
  }
  return in;
}

/// The same for a cluster, and the blocks that each block loads for; some get only their own.
Words multicasts(Random& random) {
  Words in = tensor_and_places(random, cast_blocks);
  for (unsigned rank = 0; rank < cast_blocks; ++rank)
    in.push_back(random.below(1U << cast_blocks) | 1U << rank);
  return in;
}

/// Boxes that cover a tensor and lie over its edges; then their places.
constexpr std::array<unsigned, 4> stored = {44, 7, 2};
template <unsigned line>
Words stores(Random& random) {
  constexpr unsigned lines = 4;
  constexpr unsigned along = (44 + line - 1) / line;
  Words places;
  for (unsigned z = 0; z < 2; ++z) {
    for (unsigned y = 0; y < 7; y += lines) {
      for (unsigned x = 0; x < along; ++x) {
        places.push_back(x * line);
        places.push_back(y);
        places.push_back(z);
      }
    }
  }
  Words in = random_words(random, places.size() / 3 * line * lines);
  in.insert(in.end(), places.begin(), places.end());
  return in;
}

constexpr const char* name_of(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::bytes128: return "bytes128";
    case TensorSwizzle::bytes64: return "bytes64";
    case TensorSwizzle::bytes32: return "bytes32";
    default: return "none";
  }
}

template <TensorSwizzle swizzle, unsigned line>
void add_copies(std::vector<Probe>& all) {
  constexpr std::array<unsigned, 3> box = {line, 4, 1};
  constexpr unsigned box_words = line * 4;
  all.push_back({.kernel = "tensor_load",
                 .inputs = name_of(swizzle),
                 .covers = {"tensor_load", "tensor_load_once", "prefetch_tensor_map", "read_unwritten",
                            "mbarrier_arrive_expect"},
                 .make_inputs = loads,
                 .out_words = boxes * box_words,
                 .shared_memory = boxes_at + 4 * boxes * box_words,
                 .items = boxes,
                 .sm90 = true,
                 .tensor = {.swizzle = swizzle, .extent = loaded, .box = box}});
  all.push_back({.kernel = "tensor_load",
                 .inputs = std::string(name_of(swizzle)) + "_to_tf32",
                 .covers = {"tensor_load", "tensor_load_once"},
                 .make_inputs = loads_of_f32,
                 .out_words = boxes * box_words,
                 .shared_memory = boxes_at + 4 * boxes * box_words,
                 .items = boxes,
                 .sm90 = true,
                 .tensor = {.swizzle = swizzle, .extent = loaded, .box = box, .rounds_to_tf32 = true}});
  constexpr std::size_t map_words = probes::map_words(boxes);
  all.push_back({.kernel = "tensor_map",
                 .inputs = name_of(swizzle),
                 .covers = {"make_tensor_map", "acquire_tensor_map"},
                 .make_inputs = matrices,
                 .out_words = boxes * box_words + map_words,
                 .shared_memory = boxes_at + 4 * boxes * box_words,
                 .items = boxes,
                 .sm90 = true,
                 .tensor = {.swizzle = swizzle, .extent = loaded, .box = box}});
  constexpr std::size_t count = ((44 + line - 1) / line) * 2 * 2;
  all.push_back(
      {.kernel = "tensor_store",
       .inputs = name_of(swizzle),
       .covers = {"tensor_store", "tensor_store_commit", "tensor_store_wait_read", "async_proxy_fence"},
       .make_inputs = stores<line>,
       .out_words = 44 * 7 * 2,
       .shared_memory = boxes_at + 8 * box_words,
       .items = count,
       .sm90 = true,
       .tensor = {.is_out = true, .swizzle = swizzle, .extent = stored, .box = box}});
}

}  // namespace

void add_cluster_probes(std::vector<Probe>& all) {
  all.push_back({.kernel = "cluster_indices",
                 .covers = {"cluster_rank", "cluster_blocks", "cluster_index", "grid_clusters"},
                 .make_inputs = words<1>,
                 .out_words = 12 * 4 * threads,
                 .grid = 12,
                 .sm90 = true,
                 .cluster = 4});
  all.push_back({.kernel = "cluster_exchange",
                 .covers = {"cluster_arrive", "cluster_wait", "peer_load<Vector<float, 4>>"},
                 .make_inputs = words<8 * 4 * threads>,
                 .out_words = 8 * 4 * threads,
                 .grid = 8,
                 .shared_memory = 16 * threads,
                 .sm90 = true,
                 .cluster = 4});
  all.push_back({.kernel = "mbarrier_ring",
                 .covers = {"mbarrier_init", "mbarrier_init_fence", "mbarrier_arrive", "mbarrier_wait"},
                 .make_inputs = words<7 * threads / 2>,
                 .out_words = 7 * threads / 2,
                 .shared_memory = 128 + 4 * threads,
                 .sm90 = true});
  all.push_back({.kernel = "mbarrier_copies",
                 .covers = {"mbarrier_arrive_copied"},
                 .make_inputs = words<7 * 4 * threads / 2>,
                 .out_words = 7 * 4 * threads / 2,
                 .shared_memory = 128 + 4 * 16 * threads / 2,
                 .sm90 = true});
  all.push_back({.kernel = "mbarrier_token",
                 .covers = {"mbarrier_arrive_at", "cluster_arrive_relaxed"},
                 .make_inputs = words<6 * threads>,
                 .out_words = 6 * threads,
                 .grid = 6,
                 .shared_memory = 128 + 16 * threads,
                 .sm90 = true,
                 .cluster = 3});
  all.push_back({.kernel = "overlapping_kernels",
                 .covers = {"wait_for_earlier_kernels", "let_later_kernels_start", "load_now"},
                 .make_inputs = words<2 * threads>,
                 .out_words = 2 * threads,
                 .grid = 2,
                 .sm90 = true});
  add_copies<TensorSwizzle::none, 24>(all);
  add_copies<TensorSwizzle::bytes32, 8>(all);
  add_copies<TensorSwizzle::bytes64, 16>(all);
  add_copies<TensorSwizzle::bytes128, 32>(all);
  constexpr unsigned box_words = 32 * 4;
  all.push_back({.kernel = "tensor_load_multicast",
                 .covers = {"tensor_load_multicast"},
                 .make_inputs = multicasts,
                 .out_words = std::size_t{cast_blocks} * cast_blocks * box_words,
                 .grid = cast_blocks,
                 .shared_memory = boxes_at + 4 * cast_blocks * box_words,
                 .sm90 = true,
                 .cluster = cast_blocks,
                 .tensor = {.swizzle = TensorSwizzle::bytes128, .extent = loaded, .box = {32, 4, 1}}});
}

TensorMapFields ProbeTensor::fields(const void* data) const {
  const unsigned long long line = 4ULL * extent[0];
  return {.data = data,
          .dtype = rounds_to_tf32 ? DType::f32 : DType::s32,
          .swizzle = swizzle,
          .rounds_to_tf32 = rounds_to_tf32,
          .extent = {extent[0], extent[1], extent[2], extent[3]},
          .stride = {line, line * extent[1], line * extent[1] * extent[2]},
          .box = {box[0], box[1], box[2]},
          .walk = walk};
}

}  // namespace quarry::test
