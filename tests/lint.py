#!/usr/bin/env python3
"""clang-format, clang-tidy and shellcheck over what git tracks. Exits 1 if any of them has something to say.

clang-tidy needs up to half a minute a file, so a file found clean is remembered by the hash of all that it was made
from: its text with every header's (comments too: NOLINT is one), the checks and the tool. Fresh hashes cost a second.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
BUILD = CHECKOUT / "build/release"
CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "onrush-lint"
FORGET_AFTER_S = 30 * 24 * 3600


def main():
    os.chdir(CHECKOUT)
    failed = [name for name, check in (("clang-format", formatting), ("shellcheck", scripts), ("clang-tidy", tidy))
              if not check()]
    print("lint:", "clean" if not failed else "not clean: " + ", ".join(failed))
    return int(bool(failed))


def tracked(*patterns):
    return subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
                          check=True, capture_output=True, text=True).stdout.split()


def formatting():
    said = subprocess.run(["clang-format", "--dry-run", "--Werror", *tracked("*.cpp", "*.h")],
                          capture_output=True, text=True)
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", said.stderr, re.MULTILINE)))
    if wrong:
        print("clang-format would change these:\n  clang-format -i " + " ".join(wrong))
    elif said.returncode != 0:
        print(said.stderr)
    return said.returncode == 0


def scripts():
    return subprocess.call(["shellcheck", "--severity=style", ".ci/run", *tracked("*.sh")]) == 0


def tidy():
    CLEAN.mkdir(parents=True, exist_ok=True)
    forget_old_results()
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True).stdout
    salt = version + b"".join((CHECKOUT / name).read_bytes() for name in tracked("*.clang-tidy"))
    ours = set(tracked("*.cpp"))
    entries = {os.path.relpath(entry["file"], CHECKOUT): entry
               for entry in json.loads((BUILD / "compile_commands.json").read_text())}
    entries = {file: entry for file, entry in entries.items() if file in ours}
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda item: tidy_one(*item, salt), sorted(entries.items())))
    print(f"clang-tidy: {len(results)} files, {results.count('clean before')} of them clean before, "
          f"{time.monotonic() - begun:.0f} s")
    return "not clean" not in results


def tidy_one(file, entry, salt):
    stamp = CLEAN / hashlib.sha256(salt + file.encode() + everything_in(entry)).hexdigest()
    if stamp.exists():
        stamp.touch()
        return "clean before"
    found = subprocess.run(["clang-tidy", "--quiet", "-p", BUILD, file], capture_output=True, text=True)
    if found.returncode == 0:
        stamp.touch()
        return "clean"
    print(found.stdout + (found.stderr if not found.stdout else ""), flush=True)
    return "not clean"


def everything_in(entry):
    """The file with all its headers, as the preprocessor leaves them, without the paths of this checkout."""
    words = shlex.split(entry["command"])
    while "ccache" in os.path.basename(words[0]):
        words.pop(0)
    output = words.index("-o")
    words = ["clang++", *words[1:output], *words[output + 2:], "-E", "-C", "-P", "-w"]
    text = subprocess.run(words, cwd=entry["directory"], capture_output=True)
    if text.returncode != 0:  # clang-tidy will say it better; it must not be remembered as clean
        return os.urandom(32)
    return text.stdout.replace(str(CHECKOUT).encode(), b"")


def forget_old_results():
    for stamp in CLEAN.iterdir():
        if stamp.stat().st_mtime < time.time() - FORGET_AFTER_S:
            stamp.unlink()


if __name__ == "__main__":
    missing = [tool for tool in ("clang++", "clang-format", "clang-tidy", "shellcheck") if not shutil.which(tool)]
    if missing:
        sys.exit(f"lint: {', '.join(missing)} missing; run: deploy/setup.sh lint")
    sys.exit(main())
