// Tiles of outputs and the patches that their windows look at, over random windows.
#include "conv2d/patches.hpp"

#include <algorithm>
#include <random>

#include "conv2d/places.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

using Engine = std::mt19937;
int between(Engine& engine, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(engine);
}

/// An axis with at least one window.
WindowAxis random_axis(Engine& engine) {
  WindowAxis axis = {};
  const int taps = between(engine, 1, 7);
  axis.taps = divisor_of(taps);
  axis.dilation = between(engine, 1, 3);
  axis.padding = between(engine, 0, taps + 2);
  const int stride = between(engine, 1, 5);
  axis.stride = divisor_of(stride);
  const int span = (taps - 1) * axis.dilation + 1;
  axis.extent = std::max(span - 2 * axis.padding, 0) + between(engine, 0, 60);
  axis.places = divisor_of((axis.extent + 2 * axis.padding - span) / stride + 1);
  return axis;
}

Windows random_windows(Engine& engine) {
  Windows w = {};
  w.rows = random_axis(engine);
  w.columns = random_axis(engine);
  w.channels = divisor_of(between(engine, 1, 9));
  w.flips = between(engine, 0, 1) == 1;
  return w;
}

/// What a device's tiles must do: each output once, each window within the patch of its tile.
void check_axis(const WindowAxis& axis, int outputs, int tiles, long long pixels, bool flips) {
  CHECK(outputs >= 1);
  CHECK((tiles - 1) * outputs < axis.places.size);
  CHECK(tiles * outputs >= axis.places.size);
  for (int i = 0; i < outputs; ++i) {
    for (int tap = 0; tap < axis.taps.size; ++tap)
      CHECK(i * axis.stride.size + tap_distance(axis, tap, flips) < pixels);
  }
}

}  // namespace

TEST_CASE("patches have all pixels of their tiles' windows, and room in memory", "[conv2d]") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  Engine engine(seed);
  for (int i = 0; i < 300; ++i) {
    const Windows w = random_windows(engine);
    const int images = between(engine, 1, 4);
    const int tile_rows = 1 << between(engine, 4, 8);
    const int most_words = between(engine, 40, 5000);
    const Patches p = patches_of(w, images, true, tile_rows, most_words);
    const bool fits = patch_words(w, 1, 1) <= most_words;
    CHECK((p.rows > 0) == fits);
    if (!fits) continue;
    CHECK(p.columns <= 1 << p.columns_log2);
    CHECK(p.rows << p.columns_log2 <= tile_rows);
    CHECK(p.patch_rows * p.words.size <= most_words);
    CHECK(p.words.size % p.pairs.size == 0);
    CHECK(2 * p.pairs.size >= w.channels.size);
    CHECK(p.k_pairs == w.rows.taps.size * w.columns.taps.size * p.pairs.size);
    CHECK(p.tiles == images * p.tiles_down.size * p.tiles_across.size);
    check_axis(w.rows, p.rows, p.tiles_down.size, p.patch_rows, w.flips);
    check_axis(w.columns, p.columns, p.tiles_across.size, p.words.size / p.pairs.size, w.flips);
  }
}

TEST_CASE("patches of elements have the channels of a pixel as they are", "[conv2d]") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  Engine engine(seed);
  for (int i = 0; i < 300; ++i) {
    const Windows w = random_windows(engine);
    const int most = between(engine, 40, 9000);
    const int channels = w.channels.size;
    const Patches p = patches_of(w, between(engine, 1, 4), true, 128, most, channels);
    CHECK((p.rows > 0) == (patch_pixels(w, 1, 1) * channels <= most));
    if (p.rows == 0) continue;
    CHECK(p.pairs.size == channels);
    CHECK(p.patch_rows * p.words.size <= most);
    CHECK(p.words.size == pixels_of_windows(w.columns, p.columns) * channels);
    check_axis(w.rows, p.rows, p.tiles_down.size, p.patch_rows, w.flips);
    check_axis(w.columns, p.columns, p.tiles_across.size, p.words.size / channels, w.flips);
  }
}

TEST_CASE("where nothing is read, tiles have no patch", "[conv2d]") {
  Engine engine(7);
  const Patches p = patches_of(random_windows(engine), 2, false, 128, 1);
  CHECK(p.rows > 0);
  CHECK(p.k_pairs == 0);
  CHECK(p.patch_rows == 0);
}

TEST_CASE("tiles of a first layer leave no output over", "[conv2d]") {
  Windows w = {};
  w.rows = {.extent = 224,
            .places = divisor_of(112),
            .stride = divisor_of(2),
            .padding = 3,
            .dilation = 1,
            .taps = divisor_of(7)};
  w.columns = w.rows;
  w.channels = divisor_of(3);
  const Patches p = patches_of(w, 32, true, 128, 18 * 1024 / 4);
  CHECK(p.rows * p.columns == 128);
  CHECK(p.tiles == 32 * 98);
  CHECK(p.k_pairs == 98);
}
