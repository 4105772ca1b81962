/// quarry verify --campaign: random problems, whatever a user could ask for.
#pragma once

#include <string>

#include "tools/command/common/table.hpp"

namespace quarry::command {

/// What the user asked for, as text.
struct CampaignFlags {
  std::string problems;
  std::string seed;
  std::string on;
  std::string where;
  bool trials = false;
  ListingFlags listing = {};
};

/// Runs a campaign and prints what came of it. @return the exit status
int verify_campaign(const CampaignFlags& flags);

}  // namespace quarry::command
