// Which local endpoint the next connection comes from: every port of this worker's part of a block, in O(1).
//
// Why: the kernel's own search is slow when ports are dense and stops at the ephemeral range; here the whole
// grid (addresses x ports) is ours. Freed endpoints rest longest before they are used again, so that what the
// peer still knows of the old connection has passed. Owner: one worker. Always: an endpoint is in one hand at
// a time; the target's own endpoint and skipped ports are never given out. A block with first_port 0 leaves
// the port to the kernel and takes only the address, in turn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/endpoint.h"
#include "core/control.h"
#include "core/expected.h"
#include "core/schedule.h"

namespace onrush {

class PortAllocator {
 public:
  using Ticket = std::uint32_t;  ///< names an endpoint that was taken

  struct Taken {
    Ticket ticket;
    Endpoint endpoint;
  };

  /// This worker's `part` of the block. `skipped`: ports that listen or are reserved on this host.
  /// Error: an address that is none, or of another family than the target's.
  static Expected<PortAllocator, std::string> make(const SourceBlock& block, Share part,
                                                   const Endpoint& target,
                                                   const std::vector<std::uint16_t>& skipped);

  /// Gives up the others, before any is taken: a worker with several destinations has an allocator for each.
  void keep_at_most(std::size_t count);

  /// Nothing if all are in use: then the block is used up.
  [[nodiscard]] std::optional<Taken> take() noexcept;
  void give_back(Ticket ticket) noexcept;

  /// Endpoints that it owns, taken or not.
  [[nodiscard]] std::uint64_t size() const noexcept;

 private:
  PortAllocator() = default;

  [[nodiscard]] Endpoint endpoint_of(Ticket ticket) const noexcept;

  bool kernel_chooses_ = false;
  std::uint32_t next_address_ = 0;
  std::vector<Endpoint> addresses_;
  std::vector<std::uint32_t> free_;  ///< a ring: address index in the upper 16 bits, port in the lower
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

/// Why no address of the block can reach the target, if none can.
[[nodiscard]] std::optional<std::string> why_out_of_reach(const SourceBlock& block, const Endpoint& target);
/// Only the ports that agents of a host share can.
[[nodiscard]] bool has_to_share(const SourceBlock& block, const Endpoint& target);

/// What is wrong if an address of `block` is none of this host, on which every connection from it would fail.
[[nodiscard]] std::optional<std::string> foreign_address(const SourceBlock& block);

/// The address is one of this host's.
[[nodiscard]] bool is_own_address(const Endpoint& endpoint);

}  // namespace onrush
