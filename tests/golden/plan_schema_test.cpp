// docs/plan.schema.json is held against the reader's tables: an object of the schema whose title is a table's
// owner has that table's known keys, all of them and no other. tests/integration/test_plan_schema.py holds
// the schema against plans.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/plan_keys.h"

namespace onrush {
namespace {

using Keys = std::set<std::string>;

/// Keys of every object of the schema that has a title, by title.
void collect(const nlohmann::json& at, std::map<std::string, Keys>& found) {
  if (!at.is_structured()) return;
  if (at.is_object() && at.contains("title") && at.at("title").is_string()) {
    Keys keys;
    const nlohmann::json properties = at.value("properties", nlohmann::json::object());
    for (const auto& [key, ignored] : properties.items()) keys.insert(key);
    const std::string title = at.at("title");
    EXPECT_TRUE(found.emplace(title, keys).second) << "two objects have the title " << title;
    EXPECT_EQ(at.value("additionalProperties", nlohmann::json(true)), nlohmann::json(false))
        << title << " lets unknown keys pass";
  }
  for (const nlohmann::json& member : at) collect(member, found);
}

TEST(PlanSchema, HasExactlyTheKeysThatTheReaderKnows) {
  std::ifstream file(std::string{ONRUSH_SOURCE_DIR} + "/docs/plan.schema.json");
  ASSERT_TRUE(file);
  std::map<std::string, Keys> schema;
  collect(nlohmann::json::parse(file), schema);
  for (const KeyTable* table : key_tables()) {
    const auto found = schema.find(std::string{table->owner});
    ASSERT_NE(found, schema.end()) << "docs/plan.schema.json has no object with \"title\": \"" << table->owner
                                   << "\"; add one for this table of core/plan_keys.cpp";
    EXPECT_EQ(found->second, Keys(table->known.begin(), table->known.end()))
        << "docs/plan.schema.json and core/plan_keys.cpp differ in the keys of " << table->owner
        << ": add each known key to the schema, with its type and a description, and no key of 'later'";
    schema.erase(found);
  }
  for (const auto& [title, ignored] : schema)
    ADD_FAILURE() << "no table of core/plan_keys.cpp has the owner " << title;
}

}  // namespace
}  // namespace onrush
