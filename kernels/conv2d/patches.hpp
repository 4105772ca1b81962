/// Tiles of an fprop whose windows look at a patch of the image that a block brings to shared memory once.
/// Plain constexpr C++, shared by host and device.
///
/// A tile is a rectangle of outputs of one image. Its rows are numbered line by line, in lines of a power of
/// two. The patch has the pixels that its windows look at, row by row: of each pixel the channels of a group,
/// in pairs, the last of which is filled up with a zero. What lies outside of the image is zeros, too.
///
///     outputs of a tile, 2 x 4        patch of a 3x3 filter with stride 2, 5 x 9 pixels
///     0 1 2 3                         row by row: c0 c1, c2 0 of pixel 0, then of pixel 1, ...
///     4 5 6 7
///
/// K is (r, s, pair of channels), so it has zeros where a group's channels are odd.
///
/// A wgrad has such tiles along K. Its patches have elements, channels as they are, in the place of pairs.
#pragma once

#include "conv2d/params.hpp"

namespace quarry {

/// How an output is cut into tiles, and what the patch of one has.
struct Patches {
  int columns_log2;  ///< of a tile's lines, by which its rows are numbered
  int rows;  ///< lines of a tile, and outputs of a line; fewer than are numbered where patches are large
  int columns;
  Divisor tiles_down;  ///< tiles of an image
  Divisor tiles_across;
  int tiles;      ///< of all images
  int blocks;     ///< that share them
  Divisor pairs;  ///< of channels, of a pixel (of wgrad: elements)
  Divisor words;  ///< pairs, or elements, of a row of the patch
  int patch_rows;
  int k_pairs;  ///< of all taps
};

/// Parameters of kernels of WindowIterator::window.
struct WindowConv2dParams : Conv2dParams {
  Patches patches;
};

/// Pairs that a group's channels are.
constexpr int channel_pairs(int channels) { return channels / 2 + channels % 2; }

/// Pixels that `count` windows next to each other look at.
constexpr long long pixels_of_windows(const WindowAxis& axis, int count) {
  return static_cast<long long>(count - 1) * axis.stride.size +
         static_cast<long long>(axis.taps.size - 1) * axis.dilation + 1;
}

/// Pixels of the patch of so many outputs; at most 2^31, which no patch has.
constexpr long long patch_pixels(const Windows& w, int rows, int columns) {
  const long long pixels = pixels_of_windows(w.rows, rows) * pixels_of_windows(w.columns, columns);
  constexpr long long most = 1LL << 31;
  return pixels < most ? pixels : most;
}

/// The same in words.
constexpr long long patch_words(const Windows& w, int rows, int columns) {
  return patch_pixels(w, rows, columns) * channel_pairs(w.channels.size);
}

/// Instructions of warps for a tile: of each 16 of K, of writing, and of each 32 words of the patch. Counted
/// in the source of the kernel.
struct PatchCosts {
  int k_step = 170;
  int output = 1200;
  int words = 28;
};

/// What the tiles of an image take, in instructions. @param k_pairs of the product
constexpr double patch_cost(const Patches& p, int k_pairs, long long words) {
  constexpr PatchCosts costs;
  const double copied = static_cast<double>(words) / 32 * costs.words;
  const double tile = costs.output + (k_pairs + 7) / 8 * costs.k_step + copied;
  return tile * p.tiles_down.size * p.tiles_across.size;
}

/// Tiles of at most `tile_rows` outputs (a power of two), whose patches have at most `most_words`; those that
/// cost the fewest instructions. `rows` is 0 where not even one window's patch is that small.
/// @param has_sums whether anything is read
/// @param of_pixel what a pixel has of what is called words here: pairs of channels, or elements
constexpr Patches patches_of(const Windows& w, int images, bool has_sums, int tile_rows, long long most_words,
                             int of_pixel) {
  const auto over = [](int count, int size) { return divisor_of(count / size + (count % size != 0)); };
  const auto least = [](int a, int b) { return a < b ? a : b; };
  const int k_pairs = has_sums ? w.rows.taps.size * w.columns.taps.size * channel_pairs(w.channels.size) : 0;
  Patches best = {};
  double best_cost = 0;
  for (int log2 = 0; 1 << log2 <= tile_rows; ++log2) {
    int rows = least(tile_rows >> log2, w.rows.places.size);
    int columns = least(1 << log2, w.columns.places.size);
    while (has_sums && rows > 1 && patch_pixels(w, rows, columns) * of_pixel > most_words) --rows;
    while (has_sums && columns > 1 && patch_pixels(w, rows, columns) * of_pixel > most_words) --columns;
    const long long words = has_sums ? patch_pixels(w, rows, columns) * of_pixel : 0;
    if (words > most_words) continue;
    Patches p = {.columns_log2 = log2,
                 .rows = rows,
                 .columns = columns,
                 .tiles_down = over(w.rows.places.size, rows),
                 .tiles_across = over(w.columns.places.size, columns),
                 .tiles = 0,
                 .blocks = 0,
                 .pairs = divisor_of(1),
                 .words = divisor_of(1),
                 .patch_rows = 0,
                 .k_pairs = k_pairs};
    const double cost = patch_cost(p, k_pairs, words);
    if (best.rows > 0 && cost >= best_cost) continue;
    p.tiles = images * p.tiles_down.size * p.tiles_across.size;
    if (has_sums) {
      p.pairs = divisor_of(of_pixel);
      p.words = divisor_of(static_cast<int>(pixels_of_windows(w.columns, columns)) * p.pairs.size);
      p.patch_rows = static_cast<int>(pixels_of_windows(w.rows, rows));
    }
    best = p;
    best_cost = cost;
  }
  return best;
}

/// The same of pairs of channels.
constexpr Patches patches_of(const Windows& w, int images, bool has_sums, int tile_rows,
                             long long most_words) {
  return patches_of(w, images, has_sums, tile_rows, most_words, channel_pairs(w.channels.size));
}

}  // namespace quarry
