/// The explorer's page: whole, of the kernels that it was asked for, and with texts that stay data.
#include "quarry/explorer.hpp"

#include <string>
#include <vector>

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

}  // namespace
}  // namespace quarry
