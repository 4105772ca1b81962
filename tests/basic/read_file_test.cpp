/// Files are read whole, or refused, and never without end.
#include "basic/read_file.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "support/catch_compat.hpp"

using namespace quarry;
using detail::read_file;

namespace {

/// A file of its own, removed in the end.
struct Scratch {
  std::string path =
      std::filesystem::temp_directory_path() / ("quarry_read_file." + std::to_string(::getpid()));
  explicit Scratch(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  ~Scratch() { std::remove(path.c_str()); }
};

}  // namespace

TEST_CASE("a file is read whole, whatever its length", "[files]") {
  for (const std::size_t size : {0U, 1U, 65'535U, 65'536U, 65'537U, 300'000U}) {
    std::string text(size, 'x');
    if (size > 2) text[size / 2] = '\0';
    const Scratch file(text);
    const Result<std::string> read = read_file(file.path);
    REQUIRE(read);
    CHECK(*read == text);
  }
}

TEST_CASE("a bound is what is read at most", "[files]") {
  const Scratch file(std::string(100, 'x'));
  CHECK(read_file(file.path, 100));
  const Result<std::string> longer = read_file(file.path, 99);
  REQUIRE(!longer);
  CHECK(longer.status().code() == StatusCode::parse_error);
  CHECK(longer.status().message() == "it is longer than 99 bytes, the most that is read");
}

TEST_CASE("a device that never ends is refused", "[files]") {
  CHECK_THAT(read_file("/dev/zero", 1'000'000).status().message(), Catch::Contains("longer than 1000000"));
}

TEST_CASE("what cannot be read says why", "[files]") {
  CHECK_THAT(read_file("/nonexistent/x").status().message(), Catch::Contains("No such file"));
  CHECK_THAT(read_file("/").status().message(), Catch::Contains("directory"));
}
