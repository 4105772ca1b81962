/// The explorer's page: whole, of the kernels that it was asked for, and with texts that stay data.
#include "quarry/explorer.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "quarry/gemm.hpp"
#include "quarry/registry.hpp"
#include "registry/explorer/page_text.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

/// The data of the page, as JSON.
std::string_view data_of(std::string_view page) {
  constexpr std::string_view begin = "<script type=\"application/json\" id=\"kernels\">";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

TEST_CASE("the explorer's page is whole") {
  CHECK(count(detail::page_text, detail::page_data_mark) == 1);
  for (const std::string_view mark : {"@style@", "@scripts@"}) CHECK(count(detail::page_text, mark) == 0);
  CHECK(detail::page_text.ends_with("</html>\n"));
}

TEST_CASE("the explorer's page has the kernels that it was asked for") {
  const std::vector<Kernel> all = get_kernels();
  const std::string page = explorer_page(std::span(all).first(3));
  const std::string_view data = data_of(page);
  CHECK(data.starts_with("{\"version\":"));
  CHECK(data.ends_with("]}"));
  CHECK(data.find("\"count\":3,") != data.npos);
  CHECK(data.find("\"names\":\"0 " + std::string(all[0].name()) + "\\u000a") != data.npos);
  CHECK(data.find('<') == data.npos);
  CHECK(count(page, "</html>") == 1);
}

TEST_CASE("the explorer's page of no kernel is a page") {
  const std::string page = explorer_page({});
  CHECK(data_of(page).find("\"count\":0,") != std::string_view::npos);
  CHECK(page.ends_with("</html>\n"));
}

TEST_CASE("a map of the explorer's page has the choices of find_best") {
  const std::vector<ExplorerMap> maps = {{DType::bf16, 512}, {DType::e4m3, 256}, {DType::s4, 64}};
  const std::string page = explorer_page({}, {.maps = maps});
  const std::string_view data = data_of(page);
  CHECK(data.find("\"title\":\"GEMM of bf16, K = 512\",\"extents\":[16,24,32,") != data.npos);
  CHECK(data.find("12288,16384],\"names\":[") != data.npos);
  const GemmArguments first = {.a = TensorView::row_major(nullptr, DType::bf16, {16, 512}),
                               .b = TensorView::column_major(nullptr, DType::bf16, {512, 16}),
                               .out = TensorView::row_major(nullptr, DType::bf16, {16, 16})};
  const Result<Candidate> best = find_best(first);
  REQUIRE(best);
  CHECK(data.find("\"names\":[\"" + std::string(best->name()) + "\"") != data.npos);
  CHECK(data.find("\"GEMM of e4m3, K = 256\"") != data.npos);
  // No kernel multiplies s4: cells of none.
  const std::string_view none = data.substr(data.find("GEMM of s4"));
  CHECK(none.find("\"names\":[],\"cells\":[-1,-1,") != none.npos);
}

TEST_CASE("times of the explorer's page stand by problem") {
  const std::vector<ExplorerTime> times = {{"gemm 8x8x8", "one", 1.5, 2.25},
                                           {"gemm </script>", "two", INFINITY, 3},
                                           {"gemm 8x8x8", "three", 4, 12345.678}};
  const std::string page = explorer_page({}, {.times = times});
  const std::string_view data = data_of(page);
  const std::string expected =
      R"("maps":[],"times":[{"title":"gemm 8x8x8","rows":[{"name":"one","measured":2.25,"predicted":1.5},)"
      R"({"name":"three","measured":1.235e+04,"predicted":4}]},)"
      R"({"title":"gemm \u003c/script>","rows":[{"name":"two","measured":3,"predicted":0}]}])";
  CHECK(data.find(expected) != data.npos);
}

}  // namespace
}  // namespace quarry
