// The ledger of what was verified: text and back, merging, damage; and the one that ships.
#include "lab/verify/ledger.hpp"

#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "lab/problems/fresh_seed.hpp"
#include "lab/verify/built_in_ledger.hpp"
#include "quarry/registry.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using lab::Ledger;

namespace {

using Random = std::mt19937_64;

Ledger random_ledger(Random& random, std::size_t most) {
  static const std::vector<Kernel> kernels = get_kernels();
  Ledger ledger;
  for (std::size_t i = random() % (most + 1); i > 0; --i) {
    const char* const devices[] = {"NVIDIA H100 80GB HBM3", "NVIDIA H200", "host executor"};
    const char* const sources[] = {"0123456789abcdef", "ffff"};
    ledger.add(devices[random() % 3], sources[random() % 2],
               std::string(kernels[random() % kernels.size()].name()),
               static_cast<std::int64_t>(random() % 20 + 1));
  }
  return ledger;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Ledger merged(Ledger a, const Ledger& b) {
  a.merge(b);
  return a;
}

}  // namespace

TEST_CASE("ledgers: the text says all, shortly") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 30; ++i) {
    const Ledger ledger = random_ledger(random, 200);
    const Result<Ledger> read = Ledger::parse(ledger.text());
    REQUIRE(read);
    CHECK(*read == ledger);
  }
  // All kernels of the registry in 40 bytes each.
  Ledger all;
  for (const Kernel& kernel : get_kernels()) all.add("NVIDIA H200", "ab", std::string(kernel.name()), 9);
  CHECK(all.size() == get_kernels().size());
  CHECK(all.text().size() < 40 * all.size());
}

TEST_CASE("ledgers: merging is a union, whatever the order, and however often") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 50; ++i) {
    const Ledger a = random_ledger(random, 30);
    const Ledger b = random_ledger(random, 30);
    const Ledger c = random_ledger(random, 30);
    CHECK(merged(a, b) == merged(b, a));
    CHECK(merged(merged(a, b), c) == merged(a, merged(b, c)));
    CHECK(merged(merged(a, b), b) == merged(a, b));
    CHECK(merged(a, Ledger()) == a);
  }
  Ledger more;
  more.add("d", "s", "k", 3);
  more.add("d", "s", "k", 9);
  more.add("d", "s", "k", 5);
  CHECK(more.size() == 1);
  CHECK(more.where_verified("k", "s") == "d (9 problems)");
}

TEST_CASE("ledgers: where a kernel was verified") {
  Ledger ledger;
  CHECK(ledger.where_verified("k", "new").empty());
  ledger.add("B", "old", "k", 9);
  ledger.add("A", "new", "k", 1);
  ledger.add("A", "old", "k", 7);
  ledger.add("A", "new", "kk", 2);
  CHECK(ledger.where_verified("k", "new") == "A (1 problem), B (9 problems, earlier sources)");
  CHECK(ledger.where_verified("kk", "new") == "A (2 problems)");
  CHECK(ledger.kernels() == std::vector<std::string>{"k", "kk"});
}

TEST_CASE("ledger: the code of a kernel is verified by the kernel of its entry, on devices", "[ledger]") {
  lab::Ledger ledger;
  ledger.add(std::string(lab::host_executor), "s", "entry", 5);
  CHECK(ledger.where_code_verified("entry", "s").empty());
  ledger.add("A", "s", "entry", 3);
  ledger.add("B", "old", "entry", 1);
  CHECK(ledger.where_code_verified("entry", "s") ==
        "its code on A (3 problems), B (1 problem, earlier sources)");
  CHECK(ledger.where_code_verified("other", "s").empty());
}

TEST_CASE("ledgers: damage anywhere is noticed") {
  Ledger ledger;
  ledger.add("NVIDIA H200", "0123", "gemm_a_b", 9);
  ledger.add("NVIDIA H200", "0123", "gemm_a_c", 9);
  const std::string text = ledger.text();
  REQUIRE(Ledger::parse(text));
  for (std::size_t i = 0; i < text.size(); ++i) {
    CAPTURE(i);
    CHECK(Ledger::parse(text.substr(0, i)).status().code() == StatusCode::parse_error);
    for (const int bit : {0, 3, 6}) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      const Status status = Ledger::parse(damaged).status();
      CHECK(status.code() == StatusCode::parse_error);
      CHECK(status.message().find('\n') == std::string::npos);
    }
  }
  CHECK_FALSE(Ledger::parse(text + "more\n"));
}

TEST_CASE("ledgers: foreign and future texts") {
  const auto says = [](std::string_view text) { return Ledger::parse(text).status().message(); };
  for (const char* foreign :
       {"", "\n", "my notes\n", "quarry ledger", "quarry ledger x\n", "quarry ledger 0\n", "{}\n"})
    CHECK(says(foreign).find("is not a ledger") != std::string::npos);
  CHECK(says("quarry ledger 2\nwhat is this\n").find("later Quarry") != std::string::npos);
  CHECK(says("quarry ledger 1\n").find("cut short") != std::string::npos);
  for (const char* bad :
       {"quarry ledger 1\n0 name 1\nend 1 0\n", "quarry ledger 1\ndevice d\nsources s\n5 name 1\n",
        "quarry ledger 1\ndevice d\nsources s\n0 name 0\n",
        "quarry ledger 1\ndevice d\nsources s\n0 name -1\n", "quarry ledger 1\ndevice d\nsources s\nname\n",
        "quarry ledger 1\ndevice d\n0 name 1\n"})
    CHECK(says(bad).find("damaged, at line") != std::string::npos);
}

TEST_CASE("ledgers: files are added to, by several at once, or stay as they were") {
  const detail::TestFolder folder;
  const std::string path = folder / "a.ledger";
  CHECK(Ledger::read(path)->empty());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&path, i] {
      Ledger ledger;
      ledger.add("d", "s", "kernel " + std::to_string(i), 1);
      (void)add_to_file(path, ledger);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(Ledger::read(path)->size() == 8);

  std::ofstream(folder / "notes") << "my notes\n";
  Ledger one;
  one.add("d", "s", "k", 1);
  const Status refused = add_to_file(folder / "notes", one);
  CHECK(refused.code() == StatusCode::parse_error);
  CHECK(refused.message().find("notes") != std::string::npos);
  CHECK(content(folder / "notes") == "my notes\n");
  CHECK(add_to_file(folder / "no/folder", one).code() == StatusCode::file_error);
  CHECK(Ledger::read(folder.path()).status().code() == StatusCode::parse_error);
}

TEST_CASE("the ledger that ships names kernels of the registry only") {
  const Result<Ledger> shipped = Ledger::parse(lab::built_in_ledger());
  REQUIRE(shipped);
  for (const std::string& name : shipped->kernels()) {
    CAPTURE(name);
    CHECK(find_kernel(name));
  }
}
