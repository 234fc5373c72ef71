// What a worker knows of a connection: 16 bytes by descriptor, and more only while something is unfinished.
//
// Why: a million idle connections cost the target nothing that would be missed by the generator beside it.
// Owner: the worker. Always: `borrowed` is 0 unless a head, a frame, a message or bytes to send are
// incomplete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "target-servers/floor/frames.h"

namespace target {

enum class Path : std::uint8_t { none, http, echo, broadcast, publish, ended };  ///< ended: waits for its FIN

enum class After : std::uint8_t { stay, close, linger };  ///< what follows when all bytes are out

struct Connection {
  Path path = Path::none;
  After after = After::stay;
  bool watches_room = false;  ///< EPOLLOUT is on; it stays on
  std::uint8_t spare = 0;
  std::uint32_t number = 0;    ///< broadcast: the last one given; publish: its topic
  std::uint32_t place = 0;     ///< broadcast: among the members
  std::uint32_t borrowed = 0;  ///< a buffer's number; 0: none
};
static_assert(sizeof(Connection) == 16);

struct Borrowed {
  std::string head;      ///< of the opening request
  Incoming incoming;     ///< the frame and message under way
  std::string unsent;    ///< what the socket did not take
  std::size_t sent = 0;  ///< of that
  [[nodiscard]] bool has_unsent() const noexcept { return sent < unsent.size(); }
  [[nodiscard]] bool at_rest() const noexcept { return head.empty() && incoming.at_rest() && !has_unsent(); }
};

class Buffers {
 public:
  [[nodiscard]] std::uint32_t borrow();
  void give_back(std::uint32_t number);
  [[nodiscard]] Borrowed& operator[](std::uint32_t number) { return *all_[number - 1]; }

 private:
  std::vector<std::unique_ptr<Borrowed>> all_;
  std::vector<std::uint32_t> free_;
};

}  // namespace target
