#include "lab/emulate/counter_text.hpp"

#include <cstdio>

namespace quarry::lab::emulate {
namespace {

using emulator::Counters;
using emulator::GlobalCounters;
using emulator::SharedCounters;

struct SharedRow {
  const char* name;
  const char* key;
  SharedCounters Counters::*counters;
  bool only_where_used = false;
};
constexpr SharedRow shared_rows[] = {{"shared load", "shared_load", &Counters::shared_load},
                                     {"shared store", "shared_store", &Counters::shared_store},
                                     {"matrix load", "matrix_load", &Counters::matrix_load},
                                     {"matrix store", "matrix_store", &Counters::matrix_store, true},
                                     {"copy, write", "copy_store", &Counters::copy_store}};

struct GlobalRow {
  const char* name;
  const char* key;
  GlobalCounters Counters::*counters;
};
constexpr GlobalRow global_rows[] = {{"global load", "global_load", &Counters::global_load},
                                     {"global store", "global_store", &Counters::global_store},
                                     {"copy, read", "copy_load", &Counters::copy_load}};

struct NumberRow {
  const char* name;
  const char* key;
  std::uint64_t Counters::*number;
};
constexpr NumberRow number_rows[] = {{"matrix multiplies", "matrix_multiplies", &Counters::matrix_multiplies},
                                     {"block barriers", "block_barriers", &Counters::block_barriers},
                                     {"named barriers", "named_barriers", &Counters::named_barriers},
                                     {"warp barriers", "warp_barriers", &Counters::warp_barriers},
                                     {"atomics", "atomics", &Counters::atomics},
                                     {"bytes copied", "bytes_copied", &Counters::bytes_copied}};

/// What only some kernels do: no line where it is 0.
constexpr NumberRow further_rows[] = {
    {"warpgroup products", "warpgroup_multiplies", &Counters::warpgroup_multiplies},
    {"  groups", "warpgroup_groups", &Counters::warpgroup_groups},
    {"mbarrier waits", "mbarrier_waits", &Counters::mbarrier_waits},
    {"cluster barriers", "cluster_barriers", &Counters::cluster_barriers},
    {"tensor loads", "tensor_loads", &Counters::tensor_loads},
    {"  bytes read", "tensor_bytes_read", &Counters::tensor_bytes_read},
    {"  bytes landed", "tensor_bytes_landed", &Counters::tensor_bytes_landed},
    {"tensor stores", "tensor_stores", &Counters::tensor_stores},
    {"  bytes stored", "tensor_bytes_stored", &Counters::tensor_bytes_stored},
    {"peer bytes read", "peer_bytes", &Counters::peer_bytes}};

template <class... Values>
void add_line(std::string& text, const char* format, Values... values) {
  char line[160];
  std::snprintf(line, sizeof line, format, values...);
  text += line;
}

unsigned long long number(std::uint64_t value) { return value; }

}  // namespace

std::string counters_text(const Counters& counters) {
  std::string text;
  add_line(text, "%-18s %14s %14s %14s\n", "shared memory", "instructions", "bank passes", "conflicts");
  for (const SharedRow& row : shared_rows) {
    const SharedCounters& c = counters.*row.counters;
    if (row.only_where_used && c.instructions == 0) continue;
    add_line(text, "  %-16s %14llu %14llu %14llu\n", row.name, number(c.instructions), number(c.passes),
             number(c.conflicts));
  }
  add_line(text, "%-18s %14s %14s %14s\n", "global memory", "instructions", "sectors", "used of them");
  for (const GlobalRow& row : global_rows) {
    const GlobalCounters& c = counters.*row.counters;
    add_line(text, "  %-16s %14llu %14llu %13.1f%%\n", row.name, number(c.instructions), number(c.sectors),
             100 * c.efficiency());
  }
  for (const NumberRow& row : number_rows) {
    add_line(text, "%-18s %14llu\n", row.name, number(counters.*row.number));
  }
  for (const NumberRow& row : further_rows) {
    if (counters.*row.number > 0) add_line(text, "%-18s %14llu\n", row.name, number(counters.*row.number));
  }
  return text;
}

nlohmann::ordered_json counters_json(const Counters& counters) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const SharedRow& row : shared_rows) {
    const SharedCounters& c = counters.*row.counters;
    json[row.key] = {{"instructions", c.instructions}, {"passes", c.passes}, {"conflicts", c.conflicts}};
  }
  for (const GlobalRow& row : global_rows) {
    const GlobalCounters& c = counters.*row.counters;
    json[row.key] = {{"instructions", c.instructions},
                     {"sectors", c.sectors},
                     {"bytes", c.bytes},
                     {"efficiency", c.efficiency()}};
  }
  for (const NumberRow& row : number_rows) json[row.key] = counters.*row.number;
  for (const NumberRow& row : further_rows) json[row.key] = counters.*row.number;
  return json;
}

std::string conflicts_text(const Counters& counters) {
  std::string text;
  for (const SharedRow& row : shared_rows) {
    const SharedCounters& c = counters.*row.counters;
    if (c.conflicts == 0) continue;
    text += (text.empty() ? "bank conflicts: " : ", ") + std::string(row.name) + " " +
            std::to_string(c.conflicts) + " in " + std::to_string(c.instructions) + " instructions";
  }
  return text;
}

}  // namespace quarry::lab::emulate
