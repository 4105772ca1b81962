/// Layouts cut into tiles.
#pragma once

#include "layout/complement.hpp"
#include "layout/composition.hpp"

namespace quarry::layout {

/// A tile of a layout, mode by mode: which indices of mode i belong to the first tile.
struct Tiler {
  static constexpr int most_modes = 4;
  int modes = 0;
  Layout mode[most_modes] = {};

  /// The tiler of these modes; one that has no more than it has room for. Extents stand for the first so
  /// many.
  template <class... Modes>
  static constexpr Tiler of(const Modes&... modes) {
    static_assert(sizeof...(Modes) <= most_modes);
    return {static_cast<int>(sizeof...(Modes)), {tile(modes)...}};
  }

 private:
  static constexpr Layout tile(const Layout& l) { return l; }
  static constexpr Layout tile(int extent) { return leaf(extent, 1); }
};

/// What keeps a tiler from cutting a layout whatever its tiles are: it has too few modes, or is not a layout.
constexpr Fault misfit(const Layout& l, const Tiler& tiler) {
  if (!l) return l.fault;
  const bool fits = tiler.modes >= 0 && tiler.modes <= Tiler::most_modes && tiler.modes <= rank(l);
  return fits ? Fault::none : Fault::no_such_mode;
}

/// The two parts of a division.
struct Division {
  Layout tile;  ///< of the indices within a tile
  Layout rest;  ///< of the tiles
};

/// Law: the offsets of `l` are the offsets of tile plus the offsets of rest, each once for each index;
/// tile(i) == l(tiler(i)).
constexpr Division divided(const Layout& l, const Layout& tiler) {
  const Layout rest = complement(tiler, size(l));
  const Layout both = composition(l, nested(tiler, rest));
  if (!both) return {both, both};
  return {composition(l, tiler), composition(l, rest)};
}

/// (tile, rest) of the whole layout, whatever its modes. The tiler must divide the layout's size.
/// Law: as a function, it is l after nested(tiler, complement(tiler, size(l))).
constexpr Layout logical_divide(const Layout& l, const Layout& tiler) {
  const Division parts = divided(l, tiler);
  return nested(parts.tile, parts.rest);
}

/// ((tile 0, rest 0), (tile 1, rest 1), ..., modes of `l` that the tiler does not have).
constexpr Layout logical_divide(const Layout& l, const Tiler& tiler) {
  if (const Fault why = misfit(l, tiler); why != Fault::none) return faulty(why);
  Tuple all;
  for (int i = 0; i < rank(l); ++i) {
    all.add(i < tiler.modes ? logical_divide(mode(l, i), tiler.mode[i]) : mode(l, i));
  }
  return all.layout();
}

/// The tiles of all modes, and the rests of all modes, of which those that the tiler does not have are all
/// rest.
constexpr Division divided(const Layout& l, const Tiler& tiler) {
  if (const Fault why = misfit(l, tiler); why != Fault::none) return {faulty(why), faulty(why)};
  Tuple tile;
  Tuple rest;
  for (int i = 0; i < rank(l); ++i) {
    if (i >= tiler.modes) {
      rest.add(mode(l, i));
      continue;
    }
    const Division parts = divided(mode(l, i), tiler.mode[i]);
    tile.add(parts.tile);
    rest.add(parts.rest);
  }
  return {tile.layout(), rest.layout()};
}

/// ((tile 0, tile 1, ...), (rest 0, rest 1, ...)).
constexpr Layout zipped_divide(const Layout& l, const Tiler& tiler) {
  const Division parts = divided(l, tiler);
  return nested(parts.tile, parts.rest);
}

/// ((tile 0, tile 1, ...), rest 0, rest 1, ...).
constexpr Layout tiled_divide(const Layout& l, const Tiler& tiler) {
  if (const Fault why = misfit(l, tiler); why != Fault::none) return faulty(why);
  Tuple all;
  all.add(divided(l, tiler).tile);
  for (int i = 0; i < rank(l); ++i) {
    all.add(i < tiler.modes ? divided(mode(l, i), tiler.mode[i]).rest : mode(l, i));
  }
  return all.layout();
}

}  // namespace quarry::layout
