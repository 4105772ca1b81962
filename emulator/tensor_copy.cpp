#include "emulator/tensor_copy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "basic/numbers.hpp"
#include "emulator/checks.hpp"
#include "emulator/cluster.hpp"

namespace quarry::emulator {
namespace {

constexpr unsigned chunk_bytes = 16;
constexpr unsigned most_box = 256;  // elements along an extent
constexpr unsigned most_line_bytes = 2048;
constexpr unsigned most_step = 8;       // from pixel to pixel
constexpr int most_distance = 255;      // from the pixels walked over to those that are brought
constexpr unsigned to_alignment = 128;  // of a box in shared memory (PTX ISA, cp.async.bulk.tensor)
constexpr unsigned piece_bytes = 256;   // of global memory that are looked at together

/// Where the hardware puts the byte at this address: bits 4 to 6 are XORed with bits 7 to 9, as many as the
/// swizzle has (PTX ISA, swizzling modes).
unsigned swizzled(const Tensor& tensor, unsigned address) {
  return address ^ (address >> 3 & ((1U << tensor.swizzle_bits) - 1) << 4);
}

/// Rounds a line of f32 as loads by a map of TFLOAT32 do: NaN then has no other bits than tf32 has.
void round_to_tf32(std::byte* line, unsigned bytes) {
  for (unsigned at = 0; at < bytes; at += sizeof(float)) {
    float value;
    std::memcpy(&value, line + at, sizeof value);
    const std::uint32_t rounded = std::bit_cast<std::uint32_t>(host::f32_to_tf32(value)) & ~0x1fffU;
    std::memcpy(line + at, &rounded, sizeof rounded);
  }
}

unsigned line_bytes(const Tensor& tensor) { return tensor.box[0] * tensor.element_bytes; }

/// The last column (0) or row (1) of the box that copies walk through.
std::int64_t last_of_walk(const Tensor& t, int axis) {
  return static_cast<std::int64_t>(t.extent[1 + axis]) - 1 + t.upper[axis];
}

/// What the driver would not make a map of, or the engine not take; "" where there is nothing.
std::string fault_of(const Tensor& t) {
  const auto wrong = [](const char* what) { return std::string("copies by a tensor map whose ") + what; };
  if (reinterpret_cast<std::uintptr_t>(t.data) % chunk_bytes != 0)
    return wrong("data is not aligned to 16 bytes");
  const unsigned rank = t.walks() ? 4 : 3;
  for (unsigned i = 0; i < rank; ++i) {
    if (i + 1 < rank && (t.stride[i] % chunk_bytes != 0 || t.stride[i] >> 40 != 0))
      return wrong("stride is no multiple of 16 bytes below 2^40");
    if (t.extent[i] == 0 || t.extent[i] > std::uint64_t{1} << 32) return wrong("extent is not 1 to 2^32");
  }
  for (const unsigned box : t.box) {
    if (box == 0 || box > most_box) return wrong("box has not 1 to 256 elements along each extent");
  }
  if (t.element_bytes == 0 || line_bytes(t) % chunk_bytes != 0)
    return wrong("box has lines of no multiple of 16 bytes");
  if (t.swizzle_bits > 3) return wrong("swizzle is none that there is");
  if (t.swizzle_bits > 0 && line_bytes(t) > 16U << t.swizzle_bits)
    return wrong("box has lines longer than its swizzle");
  if (!t.walks()) return "";
  for (int i = 0; i < 2; ++i) {
    if (std::min(t.lower[i], t.upper[i]) < -128 || std::max(t.lower[i], t.upper[i]) > 127)
      return wrong("walked box has corners that are not -128 to 127");
    if (last_of_walk(t, i) < t.lower[i]) return wrong("walked box is empty");
    if (t.step[i] == 0 || t.step[i] > most_step) return wrong("steps are not 1 to 8");
  }
  return "";
}

/// What the engine does not take of a place. (An H200 stops with an illegal instruction then, which the PTX
/// ISA does not say.)
std::string fault_of(const Tensor& t, const BoxPlace& place, bool is_store) {
  if (std::int64_t{place.at[0]} * t.element_bytes % chunk_bytes != 0) {
    return "copies a box that begins at element " + std::to_string(place.at[0]) +
           " of its lines, which is no multiple of 16 bytes";
  }
  if (is_store && std::min({place.at[0], place.at[1], place.at[2]}) < 0)
    return "stores a box that begins in front of its tensor";
  return "";
}

/// The same of where a walk over pixels begins: it is one of those walked over.
std::string fault_of_walk(const Tensor& t, const BoxPlace& place) {
  for (int i = 0; i < 2; ++i) {
    const int at = place.at[1 + i];
    const std::string name = i == 0 ? "column " : "row ";
    if (at < t.lower[i] || at > last_of_walk(t, i) || (at - t.lower[i]) % static_cast<int>(t.step[i]) != 0)
      return "walks over pixels from " + name + std::to_string(at) + " on, which the walk does not visit";
    if (place.on[i] < 0 || place.on[i] > most_distance)
      return "brings pixels " + std::to_string(place.on[i]) + " further on, which is not 0 to 255";
  }
  return place.at[3] < 0 ? "walks over pixels of an image in front of the first" : "";
}

/// A line of a box: which of its bytes lie inside the tensor, and where.
struct Line {
  const std::byte* from;  ///< byte `first` of the line
  unsigned first;
  unsigned last;    ///< the same as `first`: none
  unsigned offset;  ///< bytes from the start of the box to the line
};

/// The elements [begin, end) of `count` elements from `at` on that are inside an extent.
void clip(std::int64_t at, unsigned count, std::uint64_t extent, unsigned& begin, unsigned& end) {
  const auto size = static_cast<std::int64_t>(extent);
  begin = static_cast<unsigned>(std::clamp<std::int64_t>(-at, 0, count));
  end = static_cast<unsigned>(std::clamp<std::int64_t>(size - at, begin, count));
}

/// Which bytes of a line at these places along the outer extents lie inside the tensor, and where. @param at
/// as many as there are such extents
Line line_at(const Tensor& t, int x, const std::int64_t* at, unsigned count, unsigned offset) {
  Line line = {nullptr, 0, 0, offset};
  unsigned begin = 0, end = 0;
  clip(x, t.box[0], t.extent[0], begin, end);
  const std::byte* from = t.data + (x + std::int64_t{begin}) * t.element_bytes;
  bool exists = begin < end;
  for (unsigned i = 0; i < count; ++i) {
    exists = exists && at[i] >= 0 && at[i] < static_cast<std::int64_t>(t.extent[1 + i]);
    if (exists) from += at[i] * static_cast<std::int64_t>(t.stride[i]);
  }
  if (!exists) return line;
  line.from = from;
  line.first = begin * t.element_bytes;
  line.last = end * t.element_bytes;
  return line;
}

/// Calls `visit` for the line of each pixel that a copy brings.
template <class Visit>
std::string for_each_pixel(const Tensor& t, const BoxPlace& place, const Visit& visit) {
  std::int64_t at[3] = {place.at[1], place.at[2], place.at[3]};
  for (unsigned pixel = 0; pixel < t.box[1]; ++pixel) {
    const std::int64_t brought[3] = {at[0] + place.on[0], at[1] + place.on[1], at[2]};
    std::string fault = visit(line_at(t, place.at[0], brought, 3, pixel * line_bytes(t)));
    if (!fault.empty()) return fault;
    for (int i = 0; i < 2; ++i) {  // columns, then rows, then images
      at[i] += t.step[i];
      if (at[i] <= last_of_walk(t, i)) break;
      at[i] = t.lower[i];
      if (i == 1) ++at[2];
    }
  }
  return "";
}

template <class Visit>
std::string for_each_line(const Tensor& t, const BoxPlace& place, const Visit& visit) {
  if (t.walks()) return for_each_pixel(t, place, visit);
  for (unsigned line = 0; line < t.box[1] * t.box[2]; ++line) {
    const std::int64_t at[2] = {std::int64_t{place.at[1]} + line % t.box[1],
                                std::int64_t{place.at[2]} + line / t.box[1]};
    std::string fault = visit(line_at(t, place.at[0], at, 2, line * line_bytes(t)));
    if (!fault.empty()) return fault;
  }
  return "";
}

/// Calls `visit(address, byte, bytes)` for each piece of a line that the swizzle leaves together: where it
/// lies in shared memory, and which bytes of the line it is, of those from `first` to `last`.
template <class Visit>
std::string for_each_chunk(const Tensor& t, unsigned box, const Line& line, unsigned first, unsigned last,
                           const Visit& visit) {
  for (unsigned begin = first; begin < last;) {
    const unsigned end = std::min(last, begin / chunk_bytes * chunk_bytes + chunk_bytes);
    std::string fault = visit(swizzled(t, box + line.offset + begin), begin, end - begin);
    if (!fault.empty()) return fault;
    begin = end;
  }
  return "";
}

/// Reads a line's bytes inside the tensor to where they belong in `to`.
std::string read_line(GlobalMemory& memory, const Accessor& by, const Line& line, std::byte* to,
                      const Site& site) {
  for (unsigned done = line.first; done < line.last; done += piece_bytes) {
    std::string fault = memory.read(by, line.from + (done - line.first), to + done,
                                    std::min(piece_bytes, line.last - done), 1, site);
    if (!fault.empty()) return fault;
  }
  return "";
}

Accessor reader_of(const BulkLoad& load) {
  return {load.starter->block->index(), load.starter->index, &load.clock, &load.starter->global_accesses};
}

/// Whether the source can be read; counts its bytes.
std::string check_source(Block& block, const BulkLoad& load, const Site& site) {
  return for_each_line(load.tensor, load.place, [&](const Line& line) {
    std::byte ignored[most_line_bytes];
    block.count().tensor_bytes_read += line.last - line.first;
    return read_line(block.state().memory, reader_of(load), line, ignored, site);
  });
}

/// Starts a load to one block of the cluster.
std::string start_load(Thread& thread, Block& owner, BulkLoad load, unsigned barrier_address,
                       const Site& site) {
  std::string fault;
  Mbarrier* const barrier = find_mbarrier(thread, owner, barrier_address, &fault);
  if (barrier == nullptr) return fault;
  SharedMemory& shared = owner.shared();
  load.access = shared.add_bulk({site, owner.index(), never, static_cast<std::uint16_t>(barrier->actor),
                                 AccessKind::bulk_flying, static_cast<std::uint16_t>(thread.index),
                                 thread.block->index()});
  fault = shared.begin_bulk_write(on_shared(thread), load.access, load.to, load.bytes, to_alignment);
  if (!fault.empty()) return fault;
  thread.block->count().tensor_bytes_landed += load.bytes;
  return add_load(owner, *barrier, load, lands_early(thread));
}

/// What a thread asks for.
struct LoadRequest {
  unsigned to;
  const Tensor* tensor;
  const BoxPlace* place;
  unsigned barrier;
  unsigned blocks;
};

/// Starts a load to all blocks that it goes to. @return what is wrong, "" where nothing is
std::string start_loads(Thread& thread, const LoadRequest& request, const Site& site) {
  Block& block = *thread.block;
  const BulkLoad load = {*request.tensor, *request.place, request.to, box_bytes(*request.tensor),
                         &thread,         thread.clock,   0,          false};
  ++block.count().tensor_loads;
  std::string fault = check_source(block, load, site);
  for (unsigned rank = 0; request.blocks >> rank != 0 && fault.empty(); ++rank) {
    if ((request.blocks >> rank & 1) == 0) continue;
    fault = start_load(thread, block.cluster().block(rank), load, request.barrier, site);
  }
  return fault;
}

/// What is wrong with the blocks that a load goes to; "" where nothing is.
std::string fault_of_blocks(Cluster& cluster, unsigned blocks) {
  if (blocks == 0) return "copies to no block of the cluster";
  for (unsigned rank = 0; blocks >> rank != 0; ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    if (rank >= cluster.size()) {
      return "copies to block " + std::to_string(rank) + " of a cluster of " + std::to_string(cluster.size());
    }
    if (cluster.block(rank).ended()) {
      return "copies to block " + std::to_string(rank) + " of the cluster, which has ended";
    }
  }
  return "";
}

/// Reads the box from shared memory and writes it.
void land(Block& block, BulkStore& store) {
  (void)for_each_line(store.tensor, store.place, [&](const Line& line) {
    return for_each_chunk(store.tensor, store.from, line, line.first, line.last,
                          [&](unsigned address, unsigned byte, unsigned bytes) {
                            auto* const to = const_cast<std::byte*>(line.from) + (byte - line.first);
                            std::memcpy(to, block.shared().at(address), bytes);
                            return std::string();
                          });
  });
  store.landed = true;
}

/// From here on the store may read its box, and write what lies inside the tensor.
std::string start_store(Thread& thread, const BulkStore& store) {
  Block& block = *thread.block;
  return for_each_line(store.tensor, store.place, [&](const Line& line) {
    block.count().tensor_bytes_stored += line.last - line.first;
    std::string fault = for_each_chunk(store.tensor, store.from, line, line.first, line.last,
                                       [&](unsigned address, unsigned, unsigned bytes) {
                                         return block.shared().begin_bulk_read(on_shared(thread),
                                                                               store.access, address, bytes);
                                       });
    for (unsigned done = line.first; done < line.last && fault.empty(); done += piece_bytes) {
      fault = block.state().memory.begin_bulk_write(on_global(thread),
                                                    const_cast<std::byte*>(line.from) + (done - line.first),
                                                    std::min(piece_bytes, line.last - done), store.site);
    }
    return fault;
  });
}

/// The thread has waited until the group's stores have read their boxes.
void end_reading(Thread& thread, BulkStores::Group& group) {
  if (group.read) return;
  for (BulkStore& store : group.stores) {
    if (!store.landed) land(*thread.block, store);
    Access over = thread.block->shared().bulk(store.access);
    over.kind = AccessKind::bulk_read;
    over.step = thread.clock.own;
    thread.block->shared().settle(store.access, over);
  }
  group.read = true;
}

}  // namespace

unsigned box_bytes(const Tensor& t) { return line_bytes(t) * t.box[1] * t.box[2]; }

const BulkStore& BulkStores::unread() const {
  for (const Group& group : groups) {
    if (!group.read && !group.stores.empty()) return group.stores.front();
  }
  return open.stores.front();
}

std::string land(Block& block, BulkLoad& load) {
  load.landed = true;
  const Site site = block.shared().bulk(load.access).site;
  return for_each_line(load.tensor, load.place, [&](const Line& line) {
    std::byte bytes[most_line_bytes] = {};
    std::string fault = read_line(block.state().memory, reader_of(load), line, bytes, site);
    if (!fault.empty()) return fault;
    if (load.tensor.rounds_to_tf32) round_to_tf32(bytes, line_bytes(load.tensor));
    return for_each_chunk(load.tensor, load.to, line, 0, line_bytes(load.tensor),
                          [&](unsigned address, unsigned byte, unsigned count) {
                            block.shared().land(address, bytes + byte, count);
                            return std::string();
                          });
  });
}

namespace {

/// Starts a load of a box or of pixels.
void load(const LoadRequest& request, const Site& site) {
  Thread& thread = *current;
  check(thread, fault_of(*request.tensor, *request.place, false), site);
  check(thread, fault_of_blocks(thread.block->cluster(), request.blocks), site);
  check(thread, start_loads(thread, request, site), site);
}

}  // namespace

void acquire_tensor_map(const void* map) { current->acquired_maps.insert(map); }

void check_tensor_map(const void* map, const Site& site) {
  Thread& thread = *current;
  if (thread.block->state().memory.may_change(map) && !thread.acquired_maps.contains(map))
    check(thread, "copies by a tensor map that kernels write, and has not acquired it", site);
}

void tensor_load(unsigned to, const Tensor& tensor, const BoxPlace& place, unsigned barrier, unsigned blocks,
                 const Site& site) {
  Thread& thread = *current;
  check_earlier_kernels(thread, site);
  check(thread, fault_of(tensor), site);
  if (tensor.walks()) check(thread, "copies a box by a tensor map of images", site);
  load({to, &tensor, &place, barrier, blocks}, site);
}

void tensor_load_pixels(unsigned to, const Tensor& tensor, const BoxPlace& place, unsigned barrier,
                        unsigned blocks, const Site& site) {
  Thread& thread = *current;
  check_earlier_kernels(thread, site);
  check(thread, fault_of(tensor), site);
  if (!tensor.walks()) check(thread, "copies pixels by a tensor map that is not of images", site);
  check(thread, fault_of_walk(tensor, place), site);
  load({to, &tensor, &place, barrier, blocks}, site);
}

void tensor_store(const Tensor& tensor, const BoxPlace& place, unsigned from, const Site& site) {
  Thread& thread = *current;
  SharedMemory& shared = thread.block->shared();
  check_earlier_kernels(thread, site);
  check(thread, fault_of(tensor), site);
  if (tensor.walks()) check(thread, "stores a box by a tensor map of images", site);
  check(thread, fault_of(tensor, place, true), site);
  if (from % to_alignment != 0)
    check(thread, "copies from shared memory that is not aligned to 128 bytes", site);
  const AccessId access =
      shared.add_bulk({site, thread.block->index(), never, static_cast<std::uint16_t>(thread.index),
                       AccessKind::bulk_reading});
  ++thread.block->count().tensor_stores;
  BulkStore& store =
      thread.stores.open.stores.emplace_back(BulkStore{tensor, place, from, site, access, false});
  check(thread, start_store(thread, store), site);
  if (lands_early(thread)) land(*thread.block, store);
}

void tensor_store_commit() {
  BulkStores& stores = current->stores;
  stores.groups.push_back(std::move(stores.open));
  stores.open = {};
}

void tensor_store_wait_read(unsigned pending) {
  Thread& thread = *current;
  std::deque<BulkStores::Group>& groups = thread.stores.groups;
  for (std::size_t i = 0; i + pending < groups.size(); ++i) end_reading(thread, groups[i]);
}

void wait_for_earlier_kernels() {
  Thread& thread = *current;
  thread.clock.view = with_known_step(thread.clock.view, thread.block->earlier_kernels(), 1);
}

}  // namespace quarry::emulator
