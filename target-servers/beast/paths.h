// The three paths: what a session does with messages on /echo, /broadcast and /publish.
//
// Owner: the session's worker. Always: a path has one write under way at most.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "target-servers/beast/session.h"
#include "target-servers/beast/topics.h"

namespace target {

using Workers = std::vector<std::unique_ptr<Worker>>;

/// What comes goes back; the next message is read when this one is out, so a peer that does not read waits in
/// TCP.
template <class Stream, bool Deflate>
class Echo final : public Session<Stream, Deflate> {
 public:
  using Session<Stream, Deflate>::Session;

 private:
  void received() override { this->write(this->got_text(), this->buffer().data()); }
  void written() override { this->next(); }
};

/// Gives each broadcast to its peer, with the time at which it did so; starts one when its peer asks.
template <class Stream, bool Deflate>
class BroadcastMember final : public Session<Stream, Deflate>, public Recipient {
 public:
  BroadcastMember(Stream stream, Worker& worker, Broadcaster& broadcaster, const Workers& workers)
      : Session<Stream, Deflate>{std::move(stream), worker},
        broadcaster_{broadcaster},
        workers_{workers},
        given_{worker.broadcasts.last()} {
    worker.recipients.join(*this);
  }
  ~BroadcastMember() override { this->worker().recipients.leave(*this); }

  void broadcast_added() override {
    if (!busy_) give_next();
  }

 private:
  void opened() override { written(); }
  void received() override {
    if (this->got_text())
      if (const auto bytes = parse_broadcast(this->message())) broadcaster_.begin(*bytes, workers_);
    this->next();
  }
  void written() override {
    busy_ = false;
    give_next();
  }

  void give_next() {
    std::uint64_t skipped = 0;
    const Broadcast* broadcast = this->worker().broadcasts.after(given_, skipped);
    if (broadcast == nullptr) return;
    if (skipped != 0) add(this->worker().counters.broadcasts_dropped, static_cast<std::int64_t>(skipped));
    given_ = broadcast->seq;
    busy_ = true;

    constexpr std::string_view kTail = "\"}";
    const std::size_t head_bytes = static_cast<std::size_t>(
        std::snprintf(head_.data(), head_.size(), R"({"seq":%llu,"batch_us":%lld,"sent_us":%lld,"pad":")",
                      static_cast<unsigned long long>(broadcast->seq),
                      static_cast<long long>(broadcast->batch_us), static_cast<long long>(wall_clock_us())));
    const std::size_t least = head_bytes + kTail.size();
    const std::size_t pad_bytes = broadcast->bytes > least ? broadcast->bytes - least : 0;
    const char* pad = pad_bytes == 0 ? "" : this->worker().pad.letters(pad_bytes);
    this->write(true,
                std::array{net::const_buffer{head_.data(), head_bytes}, net::const_buffer{pad, pad_bytes},
                           net::const_buffer{kTail.data(), kTail.size()}});
  }

  Broadcaster& broadcaster_;
  const Workers& workers_;
  std::uint64_t given_;           // number of the last broadcast given to the socket
  bool busy_ = true;              // a write is under way, the first one being the 101
  std::array<char, 112> head_{};  // the longest head: three numbers of 20 digits in 42 characters
};

/// Publishes what comes to its own topic, and sends what is published there.
template <class Stream, bool Deflate>
class Publisher final : public Session<Stream, Deflate>, public Subscriber {
 public:
  Publisher(Stream stream, Worker& worker, Topics& topics)
      : Session<Stream, Deflate>{std::move(stream), worker}, topics_{topics}, topic_{topics.create()} {}
  ~Publisher() override { topics_.remove(topic_); }

  /// Apart from the constructor because it takes a pointer to this that others may own.
  void join() {
    topics_.subscribe(topic_, this->worker(), std::static_pointer_cast<Publisher>(this->shared_from_this()));
  }

  void deliver(const Publication& publication) override {
    unsent_.push_back(publication);
    if (unsent_.size() == 1) send_first();
  }

 private:
  // A peer that publishes but does not read is not read from either while this much waits for it.
  static constexpr std::size_t kUnsentBytes = std::size_t{1} << 20;

  void received() override {
    if (this->got_text()) {
      unsent_bytes_ += this->message().size();
      topics_.publish(topic_, std::make_shared<const std::string>(this->message()));
    }
    if (unsent_bytes_ < kUnsentBytes)
      this->next();
    else
      paused_ = true;
  }
  void written() override {
    unsent_bytes_ -= unsent_.front()->size();
    unsent_.pop_front();
    if (!unsent_.empty()) send_first();
    if (paused_ && unsent_bytes_ < kUnsentBytes) {
      paused_ = false;
      this->next();
    }
  }
  void send_first() {
    this->write(true, net::const_buffer{unsent_.front()->data(), unsent_.front()->size()});
  }

  Topics& topics_;
  std::uint64_t topic_;
  std::deque<Publication> unsent_;  // the first is being written
  std::size_t unsent_bytes_ = 0;    // published and not yet written
  bool paused_ = false;
};

}  // namespace target
