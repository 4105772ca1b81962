/// Files of problems of one operation:
/// `{"problems": [{"m": 512, "n": 512, "k": 512, "from": "where it comes from"}, ...]}`.
#pragma once

#include <string>
#include <vector>

#include "lab/problems/settings.hpp"

namespace quarry::lab {

/// The problems of a file, at least one. A problem has the members that its operation's shape is made of
/// (LabWords::shape_members), or `shape`, in the words of the command line ("fprop 32x56x56x64 64x3x3"). It
/// may hold every setting that there is a flag for ("a": "f16:col", "split_k": 4), which wins over the
/// `defaults`, and the options of its query ("batch_invariant": true, "max_workspace": "64M"). A failure
/// names the file, and the problem by its place from 1.
Result<std::vector<Problem>> read_shapes_file(const std::string& path, Operation operation,
                                              const SettingTexts& defaults,
                                              const detail::QueryOptions& options = {});

}  // namespace quarry::lab
