/// Stores artifacts in the cache that the environment chooses and loads them again: for tests of what users
/// see. Usage: quarry_fill_cache [COUNT, 3 unless told]. Prints how many came back.
#include <cstdlib>

#include "support/cache_folder.hpp"

int main(int argc, char** argv) {
  using namespace quarry::detail;
  const int count = argc > 1 ? std::atoi(argv[1]) : 3;
  int loaded = 0;
  for (int i = 0; i < count; ++i) {
    const std::string key = "key " + std::to_string(i);
    store_cached(keyed_artifact(key));
    const auto artifact = load_cached(key);
    loaded += artifact && is_of(*artifact, key) ? 1 : 0;
  }
  std::printf("%d\n", loaded);
  return 0;
}
