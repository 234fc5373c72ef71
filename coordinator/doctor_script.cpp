// The script of `onrush doctor --script`.
//
// Names of hosts come from agents: they appear in comments alone, made printable, so that they cannot end a
// line.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "coordinator/doctor.h"

namespace onrush {
namespace {

/// A sysctl for all machines: the highest that any of them needs, and why.
struct Wanted {
  std::string value;
  std::string why;
};

struct Wants {
  std::map<std::string, Wanted> sysctls;
  Wanted descriptors;
  Wanted addresses;
  std::vector<std::string> by_hand;  ///< what no setting mends
};

// Values of one key are all words, or all numbers; of several numbers the first decides.
bool is_more(const std::string& value, const std::string& than) {
  return than.empty() || std::strtoull(value.c_str(), nullptr, 10) > std::strtoull(than.c_str(), nullptr, 10);
}

void want(Wanted& wanted, const Setting& setting, const Check& check) {
  if (!is_more(setting.value, wanted.value)) return;
  wanted.value = setting.value;
  wanted.why = fmt::format("{}: needed {}, found {}", check.name, check.needed, check.found);
}

Wants wants_of(const Examination& examination) {
  Wants wants;
  for (const ExaminedHost& host : examination.hosts)
    for (const Finding& finding : host.findings) {
      const Check& check = finding.check;
      for (const Setting& setting : check.settings) switch (setting.kind) {
          case Setting::Kind::sysctl: want(wants.sysctls[setting.key], setting, check); break;
          case Setting::Kind::descriptors: want(wants.descriptors, setting, check); break;
          case Setting::Kind::addresses: want(wants.addresses, setting, check); break;
        }
      const bool mended = check.grade == CheckGrade::ok || check.grade == CheckGrade::unknown;
      if (mended || !check.settings.empty()) continue;
      std::string line = fmt::format("{}: needed {}, found {}", check.name, check.needed, check.found);
      for (const Remedy& remedy : check.remedies)
        line += fmt::format("; {}: {}", remedy.what, remedy.command);
      if (std::find(wants.by_hand.begin(), wants.by_hand.end(), line) == wants.by_hand.end())
        wants.by_hand.push_back(line);
    }
  return wants;
}

std::string head(const Examination& examination) {
  std::string hosts;
  for (const ExaminedHost& host : examination.hosts) hosts += (hosts.empty() ? "" : ", ") + host.place.host;
  return fmt::format(
      "#!/bin/sh\n"
      "# What {} needs and the machines of its agents do not have, as found by: onrush doctor --script\n"
      "# Read it, then run it as root on: {}\n"
      "# A second run changes nothing. With ONRUSH_ETC=DIR the files go below DIR instead of /etc.\n"
      "set -eu\n"
      "etc=${{ONRUSH_ETC:-/etc}}\n",
      printable(examination.plan_file, false), printable(hosts, false));
}

std::string sysctl_part(const Wants& wants) {
  std::string part =
      "\n"
      "mkdir -p \"$etc/sysctl.d\"\n"
      "cat >\"$etc/sysctl.d/90-onrush.conf\" <<'END'\n";
  for (const auto& [key, wanted] : wants.sysctls)
    part += fmt::format("# {}\n{} = {}\n", printable(wanted.why, false), key, wanted.value);
  return part +
         "END\n"
         "sysctl -p \"$etc/sysctl.d/90-onrush.conf\"\n";
}

std::string descriptor_part(const Wanted& wanted) {
  return fmt::format(
      "\n"
      "# {0}\n"
      "mkdir -p \"$etc/security/limits.d\" \"$etc/systemd/system/onrush-agent.service.d\"\n"
      "cat >\"$etc/security/limits.d/90-onrush.conf\" <<'END'\n"
      "*    - nofile {1}\n"
      "root - nofile {1}\n"
      "END\n"
      "cat >\"$etc/systemd/system/onrush-agent.service.d/limits.conf\" <<'END'\n"
      "[Service]\n"
      "LimitNOFILE={1}\n"
      "END\n"
      "echo 'open files: log in anew and start the agents from there,'\n"
      "echo 'or: systemctl daemon-reload && systemctl restart onrush-agent'\n",
      printable(wanted.why, false), wanted.value);
}

// Which addresses are free only the operator knows, so he names them.
std::string address_part(const Wanted& wanted) {
  return fmt::format(
      "\n"
      "# {0}\n"
      "# Name {1} free addresses of this host's network, and start the agents with them:\n"
      "#   ADDRESSES='10.0.0.21/24 10.0.0.22/24' DEVICE=eth0 sh this-script\n"
      "#   onrush-agent --source-addresses 10.0.0.21-10.0.0.22\n"
      "for address in ${{ADDRESSES:?name {1} free addresses; the comment above says how}}; do\n"
      "  ip address replace \"$address\" dev \"${{DEVICE:?name the network device}}\"\n"
      "done\n",
      printable(wanted.why, false), wanted.value);
}

}  // namespace

std::string render_script(const Examination& examination) {
  const Wants wants = wants_of(examination);
  std::string script = head(examination);
  if (!wants.sysctls.empty()) script += sysctl_part(wants);
  if (!wants.descriptors.value.empty()) script += descriptor_part(wants.descriptors);
  if (!wants.addresses.value.empty()) script += address_part(wants.addresses);
  if (wants.sysctls.empty() && wants.descriptors.value.empty() && wants.addresses.value.empty())
    script += "\necho \"nothing to set in $etc\"\n";
  if (!wants.by_hand.empty()) script += "\n# Not mended by this script:\n";
  for (const std::string& line : wants.by_hand) script += fmt::format("#   {}\n", printable(line, false));
  return script;
}

}  // namespace onrush
