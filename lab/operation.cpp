#include "lab/operation.hpp"

namespace quarry::lab {

std::vector<std::string> examples_of(std::string_view verb) {
  std::vector<std::string> texts;
  for (const OperationLab& lab : operation_labs()) {
    for (const Example& example : lab.words.examples) {
      if (example.verb == verb) texts.emplace_back(example.text);
    }
  }
  return texts;
}

}  // namespace quarry::lab
