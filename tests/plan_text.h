// Plans with files, as tests write them and as the reader answers.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/control.h"
#include "core/plan_yaml.h"

namespace onrush {

inline FileContent content(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

/// All mistakes, or "a good plan".
inline std::string said(const PlanText& text) {
  const auto plan = read_plan(source_of(text));
  return plan ? "a good plan" : render("t.yaml", plan.error());
}

}  // namespace onrush
