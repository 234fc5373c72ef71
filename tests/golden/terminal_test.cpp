// Drawing on a real pseudo-terminal, read back as the screen that a user would see.
#include "coordinator/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "coordinator/view.h"
#include "tests/golden/screen.h"

namespace onrush {
namespace {

constexpr std::int64_t kSecond_us = 1'000'000;

class Pty {
 public:
  Pty(unsigned short columns, unsigned short rows) {
    winsize size{rows, columns, 0, 0};
    EXPECT_EQ(::openpty(&master_, &terminal_, nullptr, nullptr, &size), 0);
  }
  ~Pty() {
    ::close(master_);
    ::close(terminal_);
  }
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

  [[nodiscard]] int terminal() const { return terminal_; }
  void resize(unsigned short columns, unsigned short rows) const {
    const winsize size{rows, columns, 0, 0};
    ASSERT_EQ(::ioctl(master_, TIOCSWINSZ, &size), 0);
  }
  /// What has been written to the terminal since the last call.
  [[nodiscard]] std::string written() const {
    std::string out;
    std::array<char, 4096> bytes{};
    for (pollfd ready{master_, POLLIN, 0}; ::poll(&ready, 1, 20) == 1;) {
      const ssize_t count = ::read(master_, bytes.data(), bytes.size());
      if (count <= 0) break;
      out.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return out;
  }

 private:
  int master_ = -1;
  int terminal_ = -1;
};

Live running(std::uint64_t open) {
  Live live;
  live.plan = "c1000k";
  live.state = "running";
  live.stages = {"setup", "idle"};
  live.wanted = 1'000;
  live.open = open;
  live.agents = live.agents_alive = 2;
  return live;
}

std::string block(const Live& live, int columns) { return render_live(live, {false, columns - 1, true}); }

TEST(Terminal, RedrawsTheBlockInPlace) {
  const Pty pty{100, 24};
  Screen screen{100, 24};
  Terminal terminal{pty.terminal(), {}};
  for (std::uint64_t i = 0; i < 10; ++i) {
    terminal.show(running(i), static_cast<std::int64_t>(i) * kSecond_us);
    screen.write(pty.written());
    EXPECT_EQ(screen.text(), block(running(i), 100));
    EXPECT_EQ(screen.cursor_column(), 0U);
  }
}

TEST(Terminal, DrawsFourTimesASecondAndNotMore) {
  const Pty pty{100, 24};
  Terminal terminal{pty.terminal(), {}};
  int drawn = 0;
  for (std::int64_t now_us = 0; now_us < kSecond_us; now_us += 10'000) {
    const std::optional<std::int64_t> next_us = terminal.next_us();
    terminal.show(running(1), now_us);
    const bool draws = !pty.written().empty();
    EXPECT_EQ(draws, !next_us || now_us >= *next_us);
    drawn += draws ? 1 : 0;
  }
  EXPECT_EQ(drawn, 4);
}

TEST(Terminal, FollowsABlockThatGrowsAndShrinks) {
  const Pty pty{100, 24};
  Screen screen{100, 24};
  Terminal terminal{pty.terminal(), {}};
  Live tall = running(1);
  tall.failures = {{"connect", "refused (ECONNREFUSED)", 7, false},
                   {"upgrade", "503 Service Unavailable", 2, false}};
  std::int64_t now_us = 0;
  for (const Live& live : {running(1), tall, running(2), tall}) {
    terminal.show(live, now_us += kSecond_us);
    screen.write(pty.written());
    EXPECT_EQ(screen.text(), block(live, 100));
  }
}

TEST(Terminal, PrintsLogLinesAboveTheBlock) {
  const Pty pty{100, 24};
  Screen screen{100, 24};
  Terminal terminal{pty.terminal(), {}};
  terminal.log("before the first block");
  terminal.show(running(1), 0);
  terminal.log("agent-2 was lost");
  screen.write(pty.written());
  EXPECT_EQ(screen.text(), "before the first block\nagent-2 was lost\n" + block(running(1), 100));
  terminal.log(std::string(150, 'x'));
  terminal.show(running(2), kSecond_us);
  screen.write(pty.written());
  EXPECT_EQ(screen.text(), "before the first block\nagent-2 was lost\n" + std::string(100, 'x') + "\n" +
                               std::string(50, 'x') + "\n" + block(running(2), 100));
}

TEST(Terminal, SpellsOutControlCharactersOfLogLines) {
  const Pty pty{100, 24};
  Terminal terminal{pty.terminal(), {}};
  terminal.log("closed: \x1b[2J");
  EXPECT_EQ(pty.written(), "closed: \\x1b[2J\r\n");
}

TEST(Terminal, LeavesOnlyTheLogWhenItHasFinished) {
  const Pty pty{100, 24};
  Screen screen{100, 24};
  {
    Terminal terminal{pty.terminal(), {}};
    terminal.show(running(1), 0);
    terminal.log("all have closed");
    terminal.show(running(2), kSecond_us);
  }
  screen.write(pty.written());
  EXPECT_EQ(screen.text(), "all have closed\n");
  EXPECT_EQ(screen.cursor_line(), 1U);
  EXPECT_EQ(screen.cursor_column(), 0U);
}

TEST(Terminal, KeepsToItsPlaceWhenTheWindowBecomesNarrower) {
  const Pty pty{100, 24};
  Screen screen{100, 24};
  Terminal terminal{pty.terminal(), {}};
  terminal.log("above");
  terminal.show(running(1), 0);
  screen.write(pty.written());
  pty.resize(40, 24);
  screen.narrow_to(40);
  terminal.show(running(2), kSecond_us);
  screen.write(pty.written());
  EXPECT_EQ(screen.text(), "above\n" + block(running(2), 40));
}

TEST(Terminal, CutsTheBlockToALowWindow) {
  const Pty pty{100, 5};
  Screen screen{100, 5};
  Terminal terminal{pty.terminal(), {}};
  for (std::uint64_t i = 0; i < 3; ++i) {
    terminal.show(running(i), static_cast<std::int64_t>(i) * kSecond_us);
    screen.write(pty.written());
    const std::string whole = block(running(i), 100);
    EXPECT_EQ(screen.text().substr(0, 40), whole.substr(0, 40));
    EXPECT_EQ(screen.cursor_line(), 4U);
  }
}

// A user who presses ctrl-s to read must not stop the run that feeds the terminal.
TEST(Terminal, DoesNotWaitForAStoppedTerminal) {
  const Pty pty{100, 24};
  Screen screen{100, 24};
  Terminal terminal{pty.terminal(), {}};
  terminal.show(running(1), 0);
  screen.write(pty.written());
  ASSERT_EQ(::tcflow(pty.terminal(), TCOOFF), 0);
  terminal.show(running(2), kSecond_us);
  terminal.log("while it was stopped");
  EXPECT_EQ(pty.written(), "");
  ASSERT_EQ(::tcflow(pty.terminal(), TCOON), 0);
  terminal.show(running(3), 2 * kSecond_us);
  screen.write(pty.written());
  EXPECT_EQ(screen.text(), "while it was stopped\n" + block(running(3), 100));
}

TEST(Terminal, PrintsALineEveryFiveSecondsElsewhere) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  {
    Terminal terminal{ends[1], {Drawing::lines, true, ""}};
    for (std::int64_t s = 0; s <= 10; ++s) terminal.show(running(1), s * kSecond_us);
    terminal.log("agent-2 was lost");
  }
  ::close(ends[1]);
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(ends[0], bytes.data(), bytes.size());
  ::close(ends[0]);
  const std::string line = render_live_line(running(1)) + "\n";
  EXPECT_EQ(std::string(bytes.data(), static_cast<std::size_t>(count)),
            line + line + line + "agent-2 was lost\n");
}

TEST(Terminal, PrintsLogLinesAloneWhenQuiet) {
  const Pty pty{100, 24};
  Terminal terminal{pty.terminal(), {Drawing::quiet, true, ""}};
  terminal.show(running(1), 0);
  terminal.log("agent-2 was lost");
  terminal.finish();
  EXPECT_EQ(pty.written(), "agent-2 was lost\r\n");
}

class Environment : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"}) ::unsetenv(name);
    ::setenv("TERM", "xterm-256color", 1);
  }
};

TEST_F(Environment, DecidesWhetherABlockIsDrawn) {
  const Pty pty{80, 24};
  const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(drawing_on(pty.terminal(), false), Drawing::block);
  EXPECT_EQ(drawing_on(pty.terminal(), true), Drawing::quiet);
  EXPECT_EQ(drawing_on(file, false), Drawing::lines);
  EXPECT_TRUE(style_of(pty.terminal()).colour);
  EXPECT_EQ(style_of(pty.terminal()).width, 80);
  EXPECT_FALSE(style_of(file).colour);
  EXPECT_EQ(style_of(file).width, 100);
  for (const char* term : {"dumb", ""}) {
    ::setenv("TERM", term, 1);
    EXPECT_EQ(drawing_on(pty.terminal(), false), Drawing::lines);
    EXPECT_FALSE(style_of(pty.terminal()).colour);
  }
  ::setenv("TERM", "xterm", 1);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(drawing_on(pty.terminal(), false), Drawing::lines);
  EXPECT_FALSE(style_of(pty.terminal()).colour);
  ::close(file);
}

TEST_F(Environment, DecidesWhetherUnicodeIsUsed) {
  EXPECT_TRUE(style_of(1).unicode);
  ::setenv("TERM", "linux", 1);
  EXPECT_FALSE(style_of(1).unicode);
  ::setenv("LANG", "de_DE.UTF-8", 1);
  EXPECT_TRUE(style_of(1).unicode);
  ::setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(style_of(1).unicode);
}

}  // namespace
}  // namespace onrush
