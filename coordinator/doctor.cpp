#include "coordinator/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordinator/view_table.h"
#include "core/address.h"
#include "core/format.h"
#include "core/source_block.h"

namespace onrush {
namespace {

Tone tone_of(CheckGrade grade) {
  switch (grade) {
    case CheckGrade::ok: return Tone::good;
    case CheckGrade::unknown: return Tone::dim;
    case CheckGrade::warning: return Tone::warn;
    case CheckGrade::refused: return Tone::bad;
  }
  return Tone::plain;
}

// Shares differ by one, and the first are the larger ones.
bool is_same(const Check& a, const Check& b) {
  return a.name == b.name && a.found == b.found && a.grade == b.grade;
}

/// Agents whose figures are the same share a line, which shows the first one's.
void add_finding(ExaminedHost& host, Check check, const std::string& agent) {
  for (Finding& known : host.findings)
    if (is_same(known.check, check)) return known.agents.push_back(agent);
  host.findings.push_back({std::move(check), {agent}});
}

std::string count_of(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", format_count(n), n == 1 ? one : many);
}

std::string names_of(const std::vector<std::string>& agents) {
  return agents.size() == 1 ? agents.front() : count_of(agents.size(), "agent", "agents");
}

void add_words(Line head, const std::string& text, const ViewStyle& style, std::vector<Line>& lines) {
  for (Line& line : flow_words(std::move(head), text, style)) lines.push_back(std::move(line));
}

void add_table(const ExaminedHost& host, const ViewStyle& style, std::vector<Line>& lines) {
  constexpr int kIndent = 2;
  Table table{{{.title = "check"},
               {.title = "needed", .align = Align::right},
               {.title = "found", .align = Align::right},
               {.title = "grade"},
               {.title = "whose", .wanted = 1}},
              kIndent,
              style.unicode};
  for (const Finding& finding : host.findings) {
    const Check& check = finding.check;
    table.add_row({table.cell(check.name), table.cell(check.needed), table.cell(check.found),
                   table.cell(name(check.grade), tone_of(check.grade)),
                   table.cell(finding.agents.empty() ? "host" : names_of(finding.agents))});
  }
  for (Line& line : table.lay_out(style)) lines.push_back(std::move(line));
}

void add_reasons(const ExaminedHost& host, const ViewStyle& style, std::vector<Line>& lines) {
  constexpr int kIndent = 11;
  for (const CheckGrade grade : {CheckGrade::refused, CheckGrade::warning})
    for (const Finding& finding : host.findings) {
      if (finding.check.grade != grade) continue;
      lines.emplace_back(style.unicode);
      add_words(Line{style.unicode}.add("  ").add(name(grade), tone_of(grade)).pad_to(kIndent),
                finding.check.why, style, lines);
      for (const Remedy& remedy : finding.check.remedies)
        add_words(Line{style.unicode}.pad_to(kIndent).add(remedy.what + ":", Tone::dim).add(" "),
                  remedy.command, style, lines);
    }
}

std::string headline(const Examination& examination) {
  std::size_t warnings = 0;
  for (const ExaminedHost& host : examination.hosts)
    warnings += static_cast<std::size_t>(
        std::count_if(host.findings.begin(), host.findings.end(),
                      [](const Finding& f) { return f.check.grade == CheckGrade::warning; }));
  const std::string who = fmt::format("{} on {}", count_of(examination.agents, "agent", "agents"),
                                      count_of(examination.hosts.size(), "host", "hosts"));
  if (examination.worst() == CheckGrade::refused)
    return fmt::format("{} cannot run with {}", examination.plan, who);
  if (warnings == 0) return fmt::format("{} can run with {}", examination.plan, who);
  return fmt::format(
      "{} can run with {}; {} in the figures", examination.plan, who,
      warnings == 1 ? "one thing will show" : count_of(warnings, "thing will show", "things will show"));
}

}  // namespace

CheckGrade Examination::worst() const noexcept {
  CheckGrade worst = CheckGrade::ok;
  for (const ExaminedHost& host : hosts)
    for (const Finding& finding : host.findings)
      if (finding.check.grade != CheckGrade::unknown) worst = std::max(worst, finding.check.grade);
  return worst;
}

Examination examine(const Plan& plan, const std::string& plan_file, const std::vector<Hello>& agents) {
  const PlanNeed need = need_of(plan, plan_file);
  const std::vector<SourceBlock> blocks = deal_source_blocks(agents, hosts_of(dialled(plan)));
  Examination examination{plan.name,
                          plan_file,
                          fmt::format("{}", fmt::join(hosts_of(plan.targets), ", ")),
                          static_cast<std::uint32_t>(agents.size()),
                          {}};
  std::vector<const Hello*> firsts;  // of each host
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const Hello& agent = agents[i];
    const auto known = std::find_if(firsts.begin(), firsts.end(),
                                    [&](const Hello* first) { return first->boot_id == agent.boot_id; });
    const auto index = static_cast<std::size_t>(known - firsts.begin());
    if (known == firsts.end()) {
      firsts.push_back(&agent);
      ExaminedHost& host = examination.hosts.emplace_back();
      host.place = {agent.host, 0, 0, any_on_loopback(dialled(plan))};
    }
    ExaminedHost& host = examination.hosts[index];
    AgentPlace place = place_of(
        plan, need, {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(agents.size())}, blocks[i]);
    place.agent = agent.name;
    place.descriptor_limit = agent.descriptor_limit;
    host.place.connections = std::min(host.place.connections + place.connections, need.peak);
    ++host.place.agents;
    for (Check& check : check_agent(need, place, agent.facts))
      add_finding(host, std::move(check), agent.name);
  }
  for (std::size_t h = 0; h < firsts.size(); ++h)
    for (Check& check : check_host(need, examination.hosts[h].place, firsts[h]->facts))
      examination.hosts[h].findings.push_back({std::move(check), {}});
  return examination;
}

std::string render_examination(const Examination& examination, const ViewStyle& style) {
  std::vector<Line> lines{Line{style.unicode}.add(headline(examination), Tone::strong)};
  for (const ExaminedHost& host : examination.hosts) {
    lines.emplace_back(style.unicode);
    const auto piece = [&](const std::string& text) { return Line{style.unicode}.add(text); };
    const auto dotted = [&](const std::string& text) {
      return Line{style.unicode}.add(Sign::dot, Tone::dim).add(" ").add(text);
    };
    std::vector<Line> pieces{piece(host.place.host), dotted(count_of(host.place.agents, "agent", "agents")),
                             dotted(count_of(host.place.connections, "connection", "connections"))};
    if (host.place.target_here) pieces.push_back(dotted("the target is there too"));
    for (Line& line : flow(Line{style.unicode}, pieces, 1, style)) lines.push_back(std::move(line));
    lines.emplace_back(style.unicode);
    add_table(host, style, lines);
    add_reasons(host, style, lines);
  }
  return render(lines, style);
}

}  // namespace onrush
