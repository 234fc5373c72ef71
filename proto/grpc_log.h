// gRPC writes what it thinks of sockets straight to stderr, amid the live view and our one clear error line.
#pragma once

namespace onrush {

/// Drops gRPC's own log lines from now on: what matters of them comes back as a status, which is reported.
void silence_grpc_log() noexcept;

}  // namespace onrush
