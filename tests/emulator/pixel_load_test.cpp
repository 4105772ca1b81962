/// Bulk loads of pixels: what they bring, and places and maps that the engine does not take.
#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::Operands;

namespace {

/// The operand as images of 4 channels: 6 columns, 5 rows, 3 images.
constexpr int channels = 4, columns = 6, rows = 5, images = 3;
constexpr unsigned pixels = 16;
constexpr int barrier_at = 512;

/// A walk, and where a load begins: a pixel of the walk by its number, and the distance.
struct Case {
  PixelWalk walk;
  int channel;
  int first;
  int columns_on, rows_on;
};
constexpr Case cases[] = {
    {{{0, 0}, {0, 0}, {1, 1}}, 0, 0, 0, 0},      {{{0, 0}, {0, 0}, {1, 1}}, 0, 40, 0, 0},
    {{{-1, -1}, {-1, -1}, {1, 1}}, 0, 0, 0, 0},  {{{-1, -1}, {-1, -1}, {1, 1}}, 0, 7, 2, 1},
    {{{-1, -1}, {-1, -1}, {1, 1}}, 0, 25, 2, 2}, {{{-2, -1}, {1, 0}, {2, 3}}, 0, 3, 3, 1},
    {{{-2, -1}, {1, 0}, {2, 3}}, 0, 20, 0, 255}, {{{2, 1}, {-1, -2}, {1, 1}}, 0, 2, 1, 0},
    {{{-7, 0}, {-6, 0}, {1, 2}}, 0, 2, 7, 0},    {{{0, 0}, {0, 0}, {1, 1}}, 4, 8, 0, 0},
    {{{0, 0}, {0, 0}, {1, 1}}, -4, 8, 0, 0},     {{{0, 0}, {0, 0}, {1, 1}}, 0, 89, 0, 0},
    {{{0, 0}, {0, 0}, {1, 1}}, 0, 95, 0, 0},  // the pixels of an image behind the last
};

/// A pixel that a walk passes.
struct Pixel {
  int column, row, image;
};

/// Those of so many images, one after another: the definition, written out.
std::vector<Pixel> walked(const PixelWalk& walk, int count) {
  std::vector<Pixel> all;
  for (int image = 0; image < count; ++image) {
    for (int row = walk.lower[1]; row < rows + walk.upper[1]; row += walk.step[1]) {
      for (int column = walk.lower[0]; column < columns + walk.upper[0]; column += walk.step[0])
        all.push_back({column, row, image});
    }
  }
  return all;
}

TensorMapFields images_of(const Operands& o, const PixelWalk& walk) {
  return {.data = o.in,
          .dtype = DType::s32,
          .swizzle = TensorSwizzle::none,
          .extent = {channels, columns, rows, images},
          .stride = {4 * channels, 4 * channels * columns, 4 * channels * columns * rows},
          .box = {4, pixels, 1},
          .walk = walk};
}

/// Loads pixels and shows them.
void load(const Operands& o, const TensorMap& map, const arch::PixelPlace& place) {
  const arch::SharedAddress barrier = arch::shared_memory() + barrier_at;
  const int t = arch::thread_index();
  if (t == 0) {
    arch::mbarrier_init(barrier, 1);
    arch::mbarrier_init_fence();
    arch::mbarrier_arrive_expect(barrier, 16 * pixels);
    arch::tensor_load_pixels(arch::shared_memory(), map, place, barrier);
  }
  arch::block_barrier();
  arch::mbarrier_wait(barrier, 0);
  arch::global_store(o.out + t, arch::shared_load<int>(arch::shared_memory() + 4 * t));
}

void load_case(const Operands& o) {
  const Case& c = cases[o.argument];
  const Pixel first = walked(c.walk, images + 1)[static_cast<std::size_t>(c.first)];
  load(o, test::map_of(images_of(o, c.walk)),
       {c.channel, first.column, first.row, first.image, c.columns_on, c.rows_on});
}

std::vector<int> expected(const Case& c) {
  const std::vector<Pixel> all = walked(c.walk, images + 8);
  std::vector<int> found;
  for (unsigned i = 0; i < pixels; ++i) {
    const Pixel& p = all[static_cast<std::size_t>(c.first) + i];
    const int column = p.column + c.columns_on;
    const int row = p.row + c.rows_on;
    for (int channel = c.channel; channel < c.channel + 4; ++channel) {
      const bool inside = column >= 0 && column < columns && row >= 0 && row < rows && p.image < images &&
                          channel >= 0 && channel < channels;
      const int at = ((p.image * rows + row) * columns + column) * channels + channel;
      found.push_back(inside ? test::input(at) : 0);
    }
  }
  return found;
}

/// What is wrong with a load, by the argument.
void load_wrong(const Operands& o) {
  PixelWalk walk = {{-1, -1}, {-1, -1}, {2, 1}};
  arch::PixelPlace place = {0, 1, 0, 0, 0, 0};
  switch (o.argument) {
    case 0: place.column = 0; break;
    case 1: place.column = 5; break;
    case 2: place.row = -2; break;
    case 3: place.image = -1; break;
    case 4: place.rows_on = 256; break;
    case 5: walk.step[1] = 9; break;
    case 6: walk.upper[0] = -8; break;
    case 7: walk.lower[1] = -129; break;
    case 8: place.channel = 2; break;
    default: walk = {};
  }
  load(o, test::map_of(images_of(o, walk)), place);
}

constexpr const char* faults[] = {"from column 0 on, which the walk does not visit",
                                  "from column 5 on, which the walk does not visit",
                                  "from row -2 on, which the walk does not visit",
                                  "an image in front of the first",
                                  "brings pixels 256 further on, which is not 0 to 255",
                                  "steps are not 1 to 8",
                                  "walked box is empty",
                                  "corners that are not -128 to 127",
                                  "no multiple of 16 bytes",
                                  "copies pixels by a tensor map that is not of images"};

void load_box_of_images(const Operands& o) {
  const TensorMap map = test::map_of(images_of(o, {{0, 0}, {0, 0}, {1, 1}}));
  if (arch::thread_index() == 0) {
    arch::mbarrier_init(arch::shared_memory() + barrier_at, 1);
    arch::tensor_load(arch::shared_memory(), map, 0, 0, 0, arch::shared_memory() + barrier_at);
  }
}

void store_box_of_images(const Operands& o) {
  const TensorMap map = test::map_of(images_of(o, {{0, 0}, {0, 0}, {1, 1}}));
  if (arch::thread_index() == 0) arch::tensor_store(map, 0, 0, 0, arch::shared_memory());
}

}  // namespace

TEST_CASE("a load of pixels walks over images and brings those at a distance") {
  for (int i = 0; i < static_cast<int>(std::size(cases)); ++i) {
    CAPTURE(i);
    fine(load_case, {.argument = i}, expected(cases[i]));
  }
}

TEST_CASE("loads of pixels that the engine does not take are found") {
  for (int i = 0; i < static_cast<int>(std::size(faults)); ++i) {
    CAPTURE(i);
    caught(load_wrong, {.argument = i}, {faults[i]});
  }
  caught(load_box_of_images, {}, {"copies a box by a tensor map of images"});
  caught(store_box_of_images, {}, {"stores a box by a tensor map of images"});
}
