// This worker's share of the timeline: which users begin and end, which sessions arrive, and when each is
// due.
//
// Why: agents run the timeline alone, and all shares together must be the plan exactly, at every instant. So
// what is due depends on nothing but plan, share and the instants at which stages begin and end. Owner: one
// worker. Instants are monotonic nanoseconds. Always: an item is given once, in the order of due times of its
// own cursor; items of a stage are all due in it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/program.h"
#include "core/poisson.h"

namespace onrush {

struct DueItem {
  enum class Kind : std::uint8_t { start_user, end_user, cut_user, arrival } kind;
  std::uint32_t cursor;  ///< for taken() and hold()
  std::uint32_t scenario;
  std::uint64_t number;  ///< user j of its scenario, or ${user} of an arrival
  std::int64_t due_ns;
};

class StageShare {
 public:
  StageShare(const Program& program, Share share);

  /// The stage begins. Items of the one before that were not taken are forgotten.
  void begin(std::uint32_t stage, std::int64_t begin_ns);
  /// The stage has ended: arrivals go on from here, with their fractions.
  void end(std::int64_t end_ns);

  /// The earliest item due before `limit_ns` that is not held; nothing if there is none.
  [[nodiscard]] std::optional<DueItem> next(std::int64_t limit_ns) const noexcept;
  void taken(const DueItem& item) noexcept;
  /// Passes over the item's cursor until release(): it cannot be done now.
  void hold(const DueItem& item) noexcept { cursors_[item.cursor].held = true; }
  void release() noexcept;

  /// When something is due that is not held; the largest value if nothing is.
  [[nodiscard]] std::int64_t next_due_ns() const noexcept;

  /// Users that the stage's changes start or end here.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  /// Users wanted here at an instant of this stage.
  [[nodiscard]] std::uint64_t wanted(std::int64_t now_ns) const noexcept;
  /// True if no session will arrive here any more in this stage.
  [[nodiscard]] bool arrivals_over() const noexcept;

 private:
  /// A row of items with their due times: a user change, or one phase (ramp, then constant) of an arrival
  /// stream.
  struct Cursor {
    DueItem::Kind kind;
    std::uint32_t scenario = 0;
    std::uint32_t stream = 0;
    bool held = false;
    bool over = false;
    std::uint64_t item = 0;   ///< the next one
    std::int64_t due_ns = 0;  ///< of it
    UserChange users{};
    std::optional<Schedule> arrivals;          ///< at equal intervals
    std::optional<PoissonArrivals> at_random;  ///< or not: both phases in one
    std::int64_t begin_ns = 0;                 ///< of the phase
  };

  void add_users(const UserChange& change);
  void add_arrivals(const ArrivalChange& change);
  void add_poisson(const ArrivalChange& change);
  void add_phase(std::uint32_t stream, Ramp ramp, double begun, std::int64_t begin_ns);
  void add_cuts(std::uint32_t stage);
  void set_due(Cursor& cursor) noexcept;

  /// A user of this share that a stage disconnects.
  struct Cut {
    std::int64_t due_ns;  ///< since the stage's begin
    std::uint32_t scenario;
    std::uint32_t user;
  };

  const Program& program_;
  Share share_;
  std::uint32_t stage_ = 0;
  std::int64_t begin_ns_ = 0;
  std::uint64_t changes_ = 0;
  std::uint64_t streams_;      ///< scenarios + 1
  std::vector<double> begun_;  ///< by stream: arrivals of the run before this stage, with the fraction
  std::vector<Cursor> cursors_;
  std::vector<std::vector<Cut>> cuts_;  ///< by stage, in order of due times
};

}  // namespace onrush
