#include "emulator/clock.hpp"

#include <algorithm>

namespace quarry::emulator {
namespace {

std::shared_ptr<const ForeignViews> only(unsigned block, const View& view) {
  return std::make_shared<const ForeignViews>(ForeignViews{{block, view}});
}

/// Whether all of `b` is known in `a`.
bool covers(const std::vector<Step>& a, const std::vector<Step>& b) {
  if (a.size() < b.size()) return false;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (a[i] < b[i]) return false;
  }
  return true;
}

}  // namespace

bool knows_of_block(const Clock& clock, unsigned block, unsigned other, Step step) {
  if (clock.foreign == nullptr) return false;
  const auto found = clock.foreign->find(block);
  return found != clock.foreign->end() && other < found->second->size() && step <= (*found->second)[other];
}

View with_known_step(const View& view, unsigned other, Step step) {
  std::vector<Step> steps = view == nullptr ? std::vector<Step>() : *view;
  if (steps.size() <= other) steps.resize(other + 1, 0);
  steps[other] = std::max(steps[other], step);
  return std::make_shared<const std::vector<Step>>(std::move(steps));
}

View later(const View& a, const View& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  // Most often one of the two has heard of all that the other one knows, and can be shared.
  if (covers(*a, *b)) return a;
  if (covers(*b, *a)) return b;
  std::vector<Step> result = a->size() < b->size() ? *b : *a;
  const std::vector<Step>& other = a->size() < b->size() ? *a : *b;
  for (std::size_t i = 0; i < other.size(); ++i) result[i] = std::max(result[i], other[i]);
  return std::make_shared<const std::vector<Step>>(std::move(result));
}

std::shared_ptr<const ForeignViews> later(const std::shared_ptr<const ForeignViews>& a,
                                          const std::shared_ptr<const ForeignViews>& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  ForeignViews result = *a;
  for (const auto& [block, view] : *b) {
    View& known = result[block];
    known = later(known, view);
  }
  return std::make_shared<const ForeignViews>(std::move(result));
}

Snapshot release(Clock& clock, unsigned block, unsigned thread) {
  std::vector<Step> all = *clock.view;
  all[thread] = clock.own++;
  return {block, std::make_shared<const std::vector<Step>>(std::move(all)), clock.foreign};
}

Snapshot later(const Snapshot& a, const Snapshot& b) {
  if (a.view == nullptr) return b;
  if (b.view == nullptr) return a;
  Snapshot both = {b.block, b.view, later(a.foreign, b.foreign)};
  if (a.block == b.block) {
    both.view = later(a.view, b.view);
  } else {
    both.foreign = later(both.foreign, only(a.block, a.view));
  }
  return both;
}

void acquire(Clock& clock, unsigned block, const Snapshot& snapshot) {
  if (snapshot.view == nullptr) return;
  if (snapshot.foreign != nullptr) {
    clock.foreign = later(clock.foreign, snapshot.foreign);
    // What another block heard of this one.
    const auto own = snapshot.foreign->find(block);
    if (own != snapshot.foreign->end()) clock.view = later(clock.view, own->second);
  }
  if (snapshot.block == block) {
    clock.view = later(clock.view, snapshot.view);
  } else {
    clock.foreign = later(clock.foreign, only(snapshot.block, snapshot.view));
  }
}

}  // namespace quarry::emulator
