// Files of data feeds: RFC 4180, JSON lines, and what neither is.
#include "core/feed_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onrush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Row = std::vector<std::string>;

struct Table {
  Row columns;
  std::vector<Row> rows;
  std::string mistake;  ///< "line: message"
};

Table read(std::string_view bytes, FeedForm form = FeedForm::csv) {
  Table table;
  auto reader = FeedReader::open(form, bytes);
  const auto fail = [&](const FeedError& error) {
    table.mistake = std::to_string(error.line) + ": " + error.message;
    return table;
  };
  if (!reader) return fail(reader.error());
  table.columns = reader->columns();
  while (true) {
    const auto more = reader->next();
    if (!more) return fail(more.error());
    if (!*more) return table;
    table.rows.emplace_back(reader->values().begin(), reader->values().end());
  }
}

TEST(Csv, P040_AByteOrderMarkIsNoPartOfTheFirstColumnsName) {
  const Table table = read("\xef\xbb\xbfid,name\r\n7,Ann\r\n");
  EXPECT_THAT(table.columns, ElementsAre("id", "name"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("7", "Ann")));
}

TEST(Csv, P040_Utf16IsRefusedWithAClearText) {
  for (const std::string_view bytes :
       {std::string_view("\xff\xfei\0d\0\n\0", 8), std::string_view("\xfe\xff\0i\0d\0\n", 8),
        std::string_view("i\0d\0\n\0", 6), std::string_view("\0i\0d\0\n", 6)})
    EXPECT_EQ(read(bytes).mistake, "1: this is UTF-16, not UTF-8; save it as UTF-8");
  EXPECT_EQ(read("id\n\xe9\n").mistake, "2: a byte that is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(read(std::string_view("id\na\n\0", 6)).mistake, "3: a NUL byte, which no text has");
}

TEST(Csv, P041_QuotedCellsHoldCommasQuotesAndLineBreaks) {
  const Table table =
      read("id,text\n1,\"a, b\"\n2,\"say \"\"hi\"\"\"\n3,\"two\r\nlines\"\n4,\"\"\n5,\"\"\"\"\n");
  EXPECT_EQ(table.mistake, "");
  EXPECT_THAT(table.rows,
              ElementsAre(ElementsAre("1", "a, b"), ElementsAre("2", "say \"hi\""),
                          ElementsAre("3", "two\r\nlines"), ElementsAre("4", ""), ElementsAre("5", "\"")));
}

TEST(Csv, P041_AQuoteThatIsNeverClosedIsToldWithTheLineWhereItBegins) {
  EXPECT_EQ(read("id,text\n1,a\n2,\"b\n3,c\n4,d\n").mistake, "3: a quote that begins here is never closed");
  EXPECT_EQ(read("id,text\n1,\"a\nb\",\"c\nd\n").mistake, "3: a quote that begins here is never closed");
  EXPECT_EQ(read("\"").mistake, "1: a quote that begins here is never closed");
}

TEST(Csv, P041_AQuoteWithinABareCellIsRefused) {
  EXPECT_THAT(read("id,text\n3,x\"y\n").mistake, HasSubstr("2: a quote within a cell that is not quoted"));
  EXPECT_THAT(read("id,text\n\"a\nb\",x\"y\n").mistake, HasSubstr("3: a quote within a cell"));
  EXPECT_THAT(read("id,text\n\"3\"x,y\n").mistake, HasSubstr("2: text behind a cell's closing quote"));
}

TEST(Csv, LinesEndWithLfCrlfOrTheFile) {
  for (const char* text :
       {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\n1,2\r\n3,4", "\n\r\na,b\n\n1,2\n\n3,4\n\n\n"})
    EXPECT_THAT(read(text).rows, ElementsAre(ElementsAre("1", "2"), ElementsAre("3", "4"))) << text;
  EXPECT_THAT(read("a,b\r1,2\r").mistake, HasSubstr("1: a carriage return that ends no line"));
}

TEST(Csv, CellsMayBeEmptyAndBlanksBelongToThem) {
  EXPECT_THAT(read("a,b\n,\n 1 ,\n").rows, ElementsAre(ElementsAre("", ""), ElementsAre(" 1 ", "")));
  EXPECT_THAT(read("a\n\"\"\nx\n").rows, ElementsAre(ElementsAre(""), ElementsAre("x")));
}

TEST(Csv, RaggedRowsAreToldWithTheirLine) {
  EXPECT_EQ(read("a,b\n1,2\n3\n").mistake, "3: 1 cell, where the header has 2");
  EXPECT_EQ(read("a,b\n\"1\n\n\",2\n3,4,5\n").mistake, "5: 3 cells, where the header has 2");
}

TEST(Csv, ColumnsHaveNamesOfTheirOwn) {
  EXPECT_EQ(read("a,b,a\n").mistake, "1: two columns have the name 'a'");
  EXPECT_EQ(read("\na,,b\n").mistake, "2: column 2 has no name");
}

TEST(Csv, P091_AnEmptyFileHasNoHeader) {
  for (const char* text : {"", "\n\n", "\xef\xbb\xbf"})
    EXPECT_EQ(read(text).mistake, "1: the file is empty; its first line names the columns");
}

TEST(Csv, WhatIsWrittenIsReadAgain) {
  for (const Row& row :
       {Row{"a", "b,c", "d\"e", "f\r\ng", ""}, Row{""}, Row{"", "x"}, Row{"\xef\xbb\xbfx"}}) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) text += (i ? ",c" : "c") + std::to_string(i);
    text += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) append_csv_cell(row[i], i == 0, text);
    text += '\n';
    EXPECT_THAT(read(text).rows, ElementsAre(row)) << text;
  }
}

TEST(Csv, AColumnThatIsWrittenKeepsAByteOrderMarkOfItsOwn) {
  std::string text;
  append_csv_cell("\xef\xbb\xbfid", true, text);
  EXPECT_THAT(read(text + "\n1\n").columns, ElementsAre("\xef\xbb\xbfid"));
}

Table lines(std::string_view bytes) { return read(bytes, FeedForm::json_lines); }

TEST(JsonLines, TheMembersOfTheFirstObjectAreTheColumns) {
  const Table table = lines(
      "{\"id\": 7, \"name\": \"A\\nn\\u00e9\", \"ok\": true}\r\n\n"
      "{\"ok\": null, \"more\": [1], \"name\": \"Bob\", \"id\": 1.50}\n");
  EXPECT_EQ(table.mistake, "");
  EXPECT_THAT(table.columns, ElementsAre("id", "name", "ok"));
  EXPECT_THAT(table.rows,
              ElementsAre(ElementsAre("7", "A\nn\xc3\xa9", "true"), ElementsAre("1.50", "Bob", "null")));
}

// Agents get their rows as CSV, in which it would be refused: a mistake of the plan, not of the run.
TEST(JsonLines, AnEscapedNulIsToldWithItsLine) {
  EXPECT_EQ(lines("{\"a\": 1, \"b\": 2}\n{\"a\": 1, \"b\": \"x\\u0000\"}\n").mistake,
            "2: a NUL character in 'b', which no text has");
  EXPECT_EQ(lines("{\"a\": 1, \"b\\u0000\": 2}\n").mistake,
            "1: a NUL character in the name of column 2, which no text has");
}

TEST(JsonLines, WhatIsNoStringStandsForItselfAsItIsWritten) {
  EXPECT_THAT(lines("{\"a\": {\"b\" : [1, 2]} , \"c\": [ ]}\n").rows,
              ElementsAre(ElementsAre("{\"b\" : [1, 2]}", "[ ]")));
}

TEST(JsonLines, MistakesAreToldWithTheirLine) {
  EXPECT_THAT(lines("{\"a\": 1}\n{\"b\": 1}\n").mistake,
              HasSubstr("2: no member 'a', which the first object has"));
  EXPECT_THAT(lines("{\"a\": 1}\n{\"a\": 1, \"a\": 2}\n").mistake,
              HasSubstr("2: member 'a' stands there twice"));
  EXPECT_THAT(lines("{\"a\": 1, \"a\": 2}\n").mistake, HasSubstr("1: two columns have the name 'a'"));
  EXPECT_THAT(lines("{\"a\": 1}\n\n[1]\n").mistake, HasSubstr("3: no object"));
  EXPECT_THAT(lines("{\"a\": 1}\n{\"a\": 1,}\n").mistake, HasSubstr("2: not JSON"));
  EXPECT_THAT(lines("{\"a\": 1}\n{\"a\": 1} {\"a\": 2}\n").mistake, HasSubstr("2: not JSON"));
  EXPECT_THAT(lines("[{\"a\": 1}]").mistake, HasSubstr("1: no object"));
  EXPECT_THAT(lines("").mistake, HasSubstr("1: the file is empty"));
  EXPECT_THAT(lines("{\"a\": " + std::string(10'000, '[') + std::string(10'000, ']') + "}").mistake,
              HasSubstr("1: not JSON"));
}

}  // namespace
}  // namespace onrush
