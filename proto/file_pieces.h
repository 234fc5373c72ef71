// The files of a plan on the wire: cut into pieces on one side, put together on the other.
//
// Why: a feed of a million rows is larger than a message may be (cases P061), and pieces keep the copies in
// flight small. Owner: who sends or hears the stream, one thread. Always: pieces of a file come in order;
// all come before the message with the plan.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "control.pb.h"
#include "core/plan_files.h"

namespace onrush {

void cut_files(const PlanFiles& files, const std::function<void(proto::FilePiece)>& piece);

class FilePieces {
 public:
  /// False if the files have grown beyond what a plan may name.
  [[nodiscard]] bool add(proto::FilePiece& piece);
  /// What has come, and begins anew.
  [[nodiscard]] PlanFiles take();

 private:
  std::map<std::string, std::shared_ptr<std::string>> files_;
  std::size_t bytes_ = 0;
};

}  // namespace onrush
