// The table of paths: what each does, as a script.
//
// Why: faults.json beside this file says what a client must report for each; a test holds the two together.
// Owner: constant data; scripts run on the connection's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace target {

class Peer;

struct Fault {
  std::string_view path;
  std::string_view does;
  void (*script)(Peer&);
};

/// Before the 101, or in it.
[[nodiscard]] const std::vector<Fault>& head_faults();
/// After a good 101.
[[nodiscard]] const std::vector<Fault>& frame_faults();
/// Services, good and bad, and how connections end.
[[nodiscard]] const std::vector<Fault>& service_faults();

/// The script for a path; `/status/N`, `/stall/Ns` and `/capacity/N` take any number. Null if there is none.
[[nodiscard]] const Fault* find_fault(std::string_view path);
/// One line a path: GET /.
[[nodiscard]] std::string list_of_faults();

/// A good 101 for this client's key, with `extra` header lines (each with its line end).
[[nodiscard]] std::string good_head(const Peer& peer, std::string_view extra = "");
/// base64(SHA-1(key + GUID)), RFC 6455 section 4.2.2.
[[nodiscard]] std::string accept_of(std::string_view key);
/// Sends the good 101.
void open(Peer& peer);
/// Answers until the client ends: with what it sent, or with nothing.
void echo(Peer& peer);
void take_all(Peer& peer);

}  // namespace target
