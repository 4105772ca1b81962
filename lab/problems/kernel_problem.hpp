/// A problem for one kernel that is named: NAME SHAPE and settings, of which the kernel says the types.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/problems/settings.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

/// Whether a word of the command line is a shape, and not a kernel's name.
inline bool is_shape(const std::string& word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }

/// The words with blanks between them.
std::string joined_words(std::span<const std::string> words);

/// Removes the words at the end that are shapes, with words between them and the kernel's name, which has an
/// underscore: one shape. @pre the last word is a shape
std::string take_shape(std::vector<std::string>& words);

/// The problem of this shape in the kernel's types and layouts, of its operation, where flags do not say
/// otherwise.
Result<Problem> problem_for(const Kernel& kernel, const std::string& shape, SettingTexts settings);

/// The same of the shape that the help of the kernel's operation shows, where no shape is asked for. Fails,
/// naming the kernel, where the kernel does not take it, too.
Result<Problem> example_problem_for(const Kernel& kernel, const SettingTexts& settings);

}  // namespace quarry::lab
