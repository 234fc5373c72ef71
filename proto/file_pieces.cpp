#include "proto/file_pieces.h"

#include <algorithm>
#include <utility>

namespace onrush {
namespace {

// Well below a message's limit, and large enough that a big file is some hundred pieces.
constexpr std::size_t kPieceBytes = 1024 * 1024;

}  // namespace

void cut_files(const PlanFiles& files, const std::function<void(proto::FilePiece)>& piece) {
  for (const auto& [name, content] : files) {
    std::size_t begin = 0;
    do {  // an empty file is one piece too
      proto::FilePiece next;
      next.set_name(name);
      next.set_content(content->substr(begin, kPieceBytes));
      piece(std::move(next));
      begin += kPieceBytes;
    } while (begin < content->size());
  }
}

bool FilePieces::add(proto::FilePiece& piece) {
  bytes_ += piece.name().size() + piece.content().size();
  if (bytes_ > kMostPlanFileBytes) return false;
  std::shared_ptr<std::string>& file = files_[piece.name()];
  if (!file)
    file = std::make_shared<std::string>(std::move(*piece.mutable_content()));
  else
    file->append(piece.content());
  return true;
}

PlanFiles FilePieces::take() {
  PlanFiles files;
  for (auto& [name, content] : std::exchange(files_, {})) {
    content->shrink_to_fit();
    files.emplace(name, std::move(content));
  }
  bytes_ = 0;
  return files;
}

}  // namespace onrush
