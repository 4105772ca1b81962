/// Accesses beside what there is, and at addresses that their width does not allow.
#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

using Byte = unsigned char;
template <int bytes>
using Wide = arch::Vector<Byte, bytes>;

constexpr int shared_bytes = 1024;
constexpr int operand_bytes = 4 * Operands::numbers;

/// The byte of shared memory, and of each operand, that the argument tells.
arch::SharedAddress shared_place(const Operands& o) { return arch::shared_memory() + o.argument; }
const Byte* in_place(const Operands& o) { return reinterpret_cast<const Byte*>(o.in) + o.argument; }
Byte* out_place(const Operands& o) { return reinterpret_cast<Byte*>(o.out) + o.argument; }

template <class T>
void load_shared(const Operands& o) {
  for (int i = 0; i < shared_bytes; i += 16) arch::shared_store(arch::shared_memory() + i, Wide<16>{});
  mark("access");
  arch::shared_load<T>(shared_place(o));
}
template <class T>
void store_shared(const Operands& o) {
  mark("access");
  arch::shared_store(shared_place(o), T{});
}
template <class T>
void load_global(const Operands& o) {
  mark("access");
  arch::global_load<T>(in_place(o));
}
template <class T>
void store_global(const Operands& o) {
  mark("access");
  arch::global_store(out_place(o), T{});
}
template <class T>
void copy_to(const Operands& o) {
  mark("access");
  arch::copy_async<sizeof(T)>(shared_place(o), o.in, sizeof(T));
  arch::copy_async_commit();
  arch::copy_async_wait<0>();
}
template <class T>
void copy_from(const Operands& o) {
  mark("access");
  arch::copy_async<sizeof(T)>(arch::shared_memory(), in_place(o), sizeof(T));
  arch::copy_async_commit();
  arch::copy_async_wait<0>();
}

const test::Setup one = {.threads = 1, .shared_memory = shared_bytes};

test::Setup at(int place) {
  test::Setup setup = one;
  setup.argument = place;
  return setup;
}

/// The words of an access of `bytes` bytes to shared memory at `place`.
std::vector<std::string> beside_shared(const std::string& verb, int bytes, int place) {
  return {"thread 0 (warp 0, lane 0) of block 0 " + verb + " " + std::to_string(bytes) + " bytes at byte " +
              std::to_string(place) + " of shared memory, of which the launch has 1024, at ",
          "@access"};
}

std::vector<std::string> behind(const std::string& verb, int bytes, const std::string& where) {
  return {"thread 0 (warp 0, lane 0) of block 0 " + verb + " " + std::to_string(bytes) +
              " bytes of global memory " + where,
          "@access"};
}

template <int bytes>
void check_shared_bounds() {
  using T = Wide<bytes>;
  for (const int inside : {0, shared_bytes - bytes}) {
    fine(load_shared<T>, at(inside));
    fine(store_shared<T>, at(inside));
  }
  for (const int outside : {-bytes, -1, shared_bytes - bytes + 1, shared_bytes, 1 << 20}) {
    caught(load_shared<T>, at(outside), beside_shared("reads", bytes, outside));
    caught(store_shared<T>, at(outside), beside_shared("writes", bytes, outside));
    if constexpr (bytes >= 4) caught(copy_to<T>, at(outside), beside_shared("copies to", bytes, outside));
  }
}

template <int bytes>
void check_global_bounds() {
  using T = Wide<bytes>;
  for (const int inside : {0, operand_bytes - bytes}) {
    fine(load_global<T>, at(inside));
    fine(store_global<T>, at(inside));
  }
  const std::string size = ", which has " + std::to_string(operand_bytes);
  for (int past = 1; past < bytes; ++past) {
    const std::string place = "at byte " + std::to_string(operand_bytes - bytes + past) + " of ";
    caught(load_global<T>, at(operand_bytes - bytes + past), behind("reads", bytes, place + "in" + size));
    caught(store_global<T>, at(operand_bytes - bytes + past), behind("writes", bytes, place + "out" + size));
  }
  caught(load_global<T>, at(operand_bytes),
         behind("reads", bytes, "that begin 0 bytes behind the end of in"));
  caught(store_global<T>, at(operand_bytes),
         behind("writes", bytes, "that begin 0 bytes behind the end of out"));
  caught(load_global<T>, at(-1), behind("reads", bytes, "that begin 1 bytes before in"));
  caught(store_global<T>, at(-1), behind("writes", bytes, "that begin 1 bytes before out"));
}

/// Each place within `bytes` bytes: only the first and those a whole width on are fine.
void check_places(test::Kernel kernel, int bytes, const std::string& words) {
  for (int place = 0; place <= 2 * bytes; ++place) {
    if (place % bytes == 0) {
      fine(kernel, at(place));
    } else {
      caught(kernel, at(place), {words, "@access"});
    }
  }
}

template <int bytes>
void check_alignment() {
  using T = Wide<bytes>;
  const std::string multiple = " a multiple of " + std::to_string(bytes);
  check_places(load_shared<T>, bytes, "which is not" + multiple);
  check_places(store_shared<T>, bytes, "which is not" + multiple);
  check_places(load_global<T>, bytes, "whose address is not" + multiple);
  check_places(store_global<T>, bytes, "whose address is not" + multiple);
  if constexpr (bytes >= 4) {
    check_places(copy_to<T>, bytes, "which is not" + multiple);
    check_places(copy_from<T>, bytes,
                 "copies " + std::to_string(bytes) + " bytes from an address that is no multiple");
  }
}

/// A warp loads matrices of which lane 9's line begins at the byte that the argument tells.
template <bool transposed>
void load_matrix(const Operands& o) {
  const int lane = arch::lane_index();
  for (int i = 16 * lane; i < shared_bytes; i += 512)
    arch::shared_store(arch::shared_memory() + i, Wide<16>{});
  arch::warp_barrier();
  const arch::SharedAddress line = arch::shared_memory() + (lane == 9 ? o.argument : 16 * lane);
  if constexpr (transposed) {
    mark("access");
    arch::load_matrix_x4_transposed(line);
  } else {
    mark("access");
    arch::load_matrix_x4(line);
  }
}

template <bool transposed>
void check_lines() {
  const auto setup = [](int place) {
    return test::Setup{.threads = 32, .shared_memory = 1024, .argument = place};
  };
  const std::string who = "thread 9 (warp 0, lane 9) of block 0 reads ";
  for (const int inside : {0, 16, 1008}) fine(load_matrix<transposed>, setup(inside));
  for (const int odd : {2, 4, 8, 31, 1000}) {
    caught(load_matrix<transposed>, setup(odd),
           {who + "shared memory at byte " + std::to_string(odd), "@access"});
  }
  for (const int outside : {-16, 1009, 1024}) {
    caught(load_matrix<transposed>, setup(outside),
           {who + "16 bytes at byte " + std::to_string(outside) + " of shared memory", "@access"});
  }
}

}  // namespace

TEST_CASE("Shared memory has the launch's size", "[bounds][shared]") {
  check_shared_bounds<1>();
  check_shared_bounds<2>();
  check_shared_bounds<4>();
  check_shared_bounds<8>();
  check_shared_bounds<16>();
}

TEST_CASE("A launch without shared memory", "[bounds][shared]") {
  const auto kernel = [](const Operands&) { arch::shared_store(arch::shared_memory(), Byte{1}); };
  caught(kernel, {.threads = 1, .shared_memory = 0},
         {"writes 1 bytes at byte 0 of shared memory, of which the launch has 0"});
}

TEST_CASE("Operands end where they end", "[bounds][global]") {
  check_global_bounds<1>();
  check_global_bounds<2>();
  check_global_bounds<4>();
  check_global_bounds<8>();
  check_global_bounds<16>();
}

TEST_CASE("Copies read operands alone", "[bounds][global]") {
  fine(copy_from<Wide<16>>, at(operand_bytes - 16));
  caught(copy_from<Wide<16>>, at(operand_bytes),
         behind("reads", 16, "that begin 0 bytes behind the end of in"));
  caught(copy_from<Wide<4>>, at(-4), behind("reads", 4, "that begin 4 bytes before in"));
}

TEST_CASE("An access is as aligned as it is wide", "[alignment]") {
  check_alignment<2>();
  check_alignment<4>();
  check_alignment<8>();
  check_alignment<16>();
}

TEST_CASE("What is wider than an access is aligned to one", "[alignment]") {
  using Two = arch::Vector<float, 8>;
  fine(load_global<Two>, at(16));
  caught(load_global<Two>, at(8), {"whose address is not a multiple of 16", "@access"});
}

TEST_CASE("Lines of matrices", "[alignment][bounds]") {
  check_lines<false>();
  check_lines<true>();
}

TEST_CASE("Operands are used for what they are", "[bounds][global]") {
  const auto anywhere = [](const Operands&) {
    const int own = 0;
    mark("access");
    arch::global_load<int>(&own);
  };
  caught(anywhere, one, behind("reads", 4, "where there is no operand"));
  const auto nowhere = [](const Operands&) {
    mark("access");
    arch::global_load<int>(nullptr);
  };
  caught(nowhere, one, behind("reads", 4, "where there is no operand"));
  const auto write_input = [](const Operands& o) {
    mark("access");
    arch::global_store(const_cast<int*>(o.in), 1);
  };
  caught(write_input, one,
         {"thread 0 (warp 0, lane 0) of block 0 writes in, which is an input, at ", "@access"});
  const auto read_output = [](const Operands& o) {
    arch::global_store(o.out, 1);
    arch::global_load<int>(o.out);
    mark("access");
    arch::global_load<arch::Vector<int, 2>>(o.out);
  };
  caught(
      read_output, one,
      {"thread 0 (warp 0, lane 0) of block 0 reads byte 4 of out, which was never written, at ", "@access"});
  const auto count_input = [](const Operands& o) {
    mark("access");
    arch::fetch_add(const_cast<int*>(o.in), 1);
  };
  caught(count_input, {.threads = 1, .blocks_wait = true}, {"changes in, which is an input, at ", "@access"});
  const auto count_beside = [](const Operands& o) {
    mark("access");
    arch::store_release(o.counters + Operands::counter_count, 1);
  };
  caught(count_beside, {.threads = 1, .blocks_wait = true},
         behind("uses", 4, "that begin 0 bytes behind the end of counters"));
}
