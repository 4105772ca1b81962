// Probes of bulk tensor copies of pixels.
#include "tests/kernels/arch/probe.hpp"

namespace quarry::test {
namespace {

/// Where probes/tensor_copy.cuh has boxes in shared memory.
constexpr unsigned boxes_at = 1024;
constexpr unsigned cast_blocks = 4;
constexpr std::size_t places = 6;

/// Images of 40 channels: 7 columns, 5 rows, 3 images.
constexpr std::array<unsigned, 4> images = {40, 7, 5, 3};
constexpr unsigned image_words = 40 * 7 * 5 * 3;

/// Walks as convolutions have them: through the image; padded, by steps of two and three; an odd box within
/// the image; padded on one side by more than the filter, so that whole rows lie outside.
struct NamedWalk {
  const char* name;
  PixelWalk walk;
};
constexpr NamedWalk walks[] = {{"plain", {{0, 0}, {0, 0}, {1, 1}}},
                               {"padded", {{-1, -2}, {-1, 1}, {1, 1}}},
                               {"steps", {{-3, -1}, {2, 0}, {2, 3}}},
                               {"inside", {{2, 1}, {-1, -2}, {1, 2}}},
                               {"outside", {{-9, -4}, {3, 5}, {4, 1}}}};

/// The images, then places: a pixel of the walk, of which the last image's walk goes on behind it.
template <std::size_t walk_number, std::size_t count>
Words pixels(Random& random) {
  const PixelWalk& walk = walks[walk_number].walk;
  Words in = random_words(random, image_words);
  for (std::size_t i = 0; i < count; ++i) {
    in.push_back(4 * random.below(11));  // channels, the last of them outside
    for (unsigned axis = 0; axis < 2; ++axis) {
      const int last = static_cast<int>(images[1 + axis]) - 1 + walk.upper[axis];
      const auto steps = static_cast<std::uint32_t>((last - walk.lower[axis]) / walk.step[axis] + 1);
      in.push_back(static_cast<std::uint32_t>(walk.lower[axis] +
                                              static_cast<int>(random.below(steps)) * walk.step[axis]));
    }
    in.push_back(random.below(4));
    for (int axis = 0; axis < 2; ++axis) in.push_back(i % 4 == 3 ? random.below(256) : random.below(6));
  }
  return in;
}

template <std::size_t walk_number>
void add_loads(std::vector<Probe>& all) {
  constexpr std::array<unsigned, 3> box = {32, 12, 1};
  constexpr unsigned box_words = 32 * 12;
  all.push_back({.kernel = "tensor_load_pixels",
                 .inputs = walks[walk_number].name,
                 .covers = {"tensor_load_pixels"},
                 .make_inputs = pixels<walk_number, places>,
                 .out_words = places * box_words,
                 .shared_memory = boxes_at + 4 * places * box_words,
                 .items = places,
                 .sm90 = true,
                 .tensor = {.swizzle = TensorSwizzle::bytes128,
                            .extent = images,
                            .box = box,
                            .walk = walks[walk_number].walk}});
}

}  // namespace

void add_pixel_probes(std::vector<Probe>& all) {
  add_loads<0>(all);
  add_loads<1>(all);
  add_loads<2>(all);
  add_loads<3>(all);
  add_loads<4>(all);
  constexpr unsigned box_words = 16 * 8;
  all.push_back(
      {.kernel = "tensor_load_pixels_multicast",
       .covers = {"tensor_load_pixels_multicast"},
       .make_inputs = pixels<1, cast_blocks>,
       .out_words = std::size_t{cast_blocks} * cast_blocks * box_words,
       .grid = cast_blocks,
       .shared_memory = boxes_at + 4 * cast_blocks * box_words,
       .sm90 = true,
       .cluster = cast_blocks,
       .tensor = {
           .swizzle = TensorSwizzle::bytes64, .extent = images, .box = {16, 8, 1}, .walk = walks[1].walk}});
}

}  // namespace quarry::test
