// A data feed: rows of a file, and how users take them.
//
// Owner: part of a Plan; immutable. Always: names of feeds and of the columns of one are unique. The rows
// themselves stay in the plan's files, so that a plan is small.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace onrush {

enum class FeedForm : std::uint8_t { csv, json_lines };

struct Feed {
  /// Which row a user takes when it begins, and keeps.
  enum class Take : std::uint8_t {
    once,    ///< one that nobody else has, over all agents
    cycle,   ///< the next of its agent's rows; behind the last comes the first
    random,  ///< any of its agent's rows
  };
  /// What a user means that finds no row left.
  enum class OnEnd : std::uint8_t {
    fail,  ///< a failed attempt, and an invalid run
    stop,  ///< a user that does not begin, as planned
  };

  std::string name;
  std::string file;  ///< as the plan names it
  FeedForm form = FeedForm::csv;
  Take take = Take::cycle;
  OnEnd on_end = OnEnd::fail;
  std::vector<std::string> columns;
  std::uint64_t rows = 0;  ///< of the whole feed; of the share on an agent
};

}  // namespace onrush
