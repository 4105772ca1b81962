/// The sources of device code, embedded in the library, and how a kernel is instantiated from them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "quarry/status.hpp"

namespace quarry::detail {

/// A file that device code includes, by the name that it is included by ("gemm_sm80/kernel.cuh").
struct SourceFile {
  std::string_view name;  ///< a 0 follows it
  std::string_view text;  ///< a 0 follows it
};

/// All of them, in the order of their names.
std::span<const SourceFile> kernel_sources();

/// A digest of all of them: a change of any byte changes it.
std::string_view sources_digest();

/// Digests of those that a family's entries include: what its machine code follows from. Entries with an
/// expression include more, so that a change there leaves what is known of the others as it is.
struct FamilyDigest {
  std::string_view family;
  std::string_view plain;
  std::string_view with_expression;
};

/// One for each family, in the order of their names.
std::span<const FamilyDigest> family_digests();

/// The digest of the family whose names start as this entry's or kernel's does, for entries with an
/// expression the one of these; of all sources where no family makes such names.
std::string_view sources_digest(std::string_view name);

/// The source that instantiates one entry, registered or of your own config, and the
/// config as text, which identifies the machine code together with the sources. Fails with not_found for a
/// name that no family makes.
struct EntrySource {
  std::string text;       ///< "#include ...\nQUARRY_ENTRY(...)\n"
  std::string config;     ///< "quarry::gemm_sm80::Config{{...}, ...}"
  int shared_memory = 0;  ///< bytes of a block, dynamic
  int only_cc = 0;        ///< the one target that it is for; 0: any
};
Result<EntrySource> entry_source(std::string_view entry);

/// Makes the expression of an entry known to this program, as entry_source needs it, where another program
/// compiled the entry. Ok without an effect for entries without an expression. Fails with not_found where
/// `config` does not name the expression of the entry's number.
/// @param config as EntrySource::config
Status learn_expression(std::string_view entry, std::string_view config);

}  // namespace quarry::detail
