#include "core/feed_shares.h"

#include <memory>

#include "core/check.h"
#include "core/feed_reader.h"
#include "core/feed_users.h"

namespace onrush {
namespace {

using Shares = std::vector<std::shared_ptr<std::string>>;

void append_row(const auto& values, std::string& out) {
  bool first = true;
  for (const auto& value : values) {
    append_csv_cell(value, first, out);
    first = false;
  }
  out += '\n';
}

Shares deal(const Plan& plan, std::uint32_t feed, const std::string& bytes, std::uint32_t agents) {
  const Feed& dealt = plan.data[feed];
  const FeedUsers takers(plan, feed);
  auto reader = FeedReader::open(dealt.form, bytes);
  ONRUSH_CHECK(reader.has_value());  // as it was when the plan was read
  Shares shares;
  for (std::uint32_t i = 0; i < agents; ++i) {
    shares.push_back(std::make_shared<std::string>());
    shares.back()->reserve(bytes.size() / agents);
    append_row(reader->columns(), *shares.back());
  }
  const bool once = dealt.take == Feed::Take::once;
  const bool too_few = !once && dealt.rows < agents;  // then everybody has all of them
  const std::uint64_t wanted = once && !takers.arrivals() ? takers.users() : UINT64_MAX;
  for (std::uint64_t row = 0; row < wanted; ++row) {
    const auto more = reader->next();
    if (!more || !*more) break;
    if (too_few)
      for (const auto& share : shares) append_row(reader->values(), *share);
    else if (once && row < takers.users())
      append_row(reader->values(), *shares[takers.agent_of(row, agents)]);
    else
      append_row(reader->values(), *shares[(once ? row - takers.users() : row) % agents]);
  }
  return shares;
}

// An agent gets the certificates of its own users only.
void add_identities(const TlsIdentities& identities, const std::string& share, const PlanFiles& files,
                    PlanFiles& to) {
  auto rows = FeedReader::open(FeedForm::csv, share);
  ONRUSH_CHECK(rows.has_value());
  while (true) {
    const auto more = rows->next();
    if (!more || !*more) return;
    const IdentityFiles named = files_of_row(identities, rows->values());
    for (const std::string* name : {&named.certificate, &named.key})
      if (const auto found = files.find(*name); found != files.end()) to.insert(*found);
  }
}

}  // namespace

std::vector<PlanFiles> deal_files(const Plan& plan, const PlanFiles& files, std::uint32_t agents) {
  std::vector<PlanFiles> dealt(agents);
  for (const std::string& name : plan.files)
    for (PlanFiles& to : dealt)
      if (const auto found = files.find(name); found != files.end()) to.insert(*found);
  const auto& identities = plan.connection.tls.by_feed;
  for (std::uint32_t feed = 0; feed < plan.data.size(); ++feed) {
    const auto found = files.find(plan.data[feed].file);
    ONRUSH_CHECK(found != files.end());
    const Shares shares = deal(plan, feed, *found->second, agents);
    for (std::uint32_t i = 0; i < agents; ++i) {
      dealt[i].emplace(share_name(plan.data[feed].name), shares[i]);
      if (identities && identities->feed == feed) add_identities(*identities, *shares[i], files, dealt[i]);
    }
  }
  return dealt;
}

}  // namespace onrush
