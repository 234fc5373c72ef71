# Every way into this checkout. Each target is complete on a fresh Debian 12: it installs what it needs first.
.DEFAULT_GOAL := help
.PHONY: build demo test bench bench-peers million soak lint sanitize fuzz help
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
ctest := ctest --output-on-failure --no-tests=error -j2

build: ## compile everything; the programs are in build/release/bin
	deploy/setup.sh build
	cmake --preset release && cmake --build build/release

demo: ## 10,000 connections against a real server on this machine, in two minutes
	deploy/setup.sh build
	cmake --preset release && cmake --build build/release --target onrush onrush-agent target-beast
	deploy/demo.py

test: ## build, then every test
	deploy/setup.sh build test
	cmake --preset release && cmake --build build/release
	$(ctest) --test-dir build/release

bench: build ## what Onrush costs beside the least that the kernel allows; ONLY=name[,name] ROUNDS=5 LIMIT=limit.cpp
	tests/benchmark/bench.py --only "$(ONLY)" --rounds $(or $(ROUNDS),5)

bench-peers: build ## what other load generators cost for the same work; ONLY=Tsung,Locust,Artillery ROUNDS=3
	deploy/setup.sh peers
	tests/benchmark/bench_peers.py --only "$(ONLY)" --rounds $(or $(ROUNDS),3)

million: ## a million connections on this machine; USERS= and RATE= for another number; needs root
	deploy/setup.sh build
	cmake --preset release && cmake --build build/release --target onrush onrush-agent target-floor
	tests/benchmark/million.py

soak: build ## ten minutes of 5,000 users that come and go: memory flat, counts exact; MINUTES= and USERS= to change
	tests/benchmark/soak.py build/release/bin --minutes $(or $(MINUTES),10) --users $(or $(USERS),5000)

lint: ## formatting, clang-tidy and shellcheck; remembers what was clean
	deploy/setup.sh build lint
	cmake --preset release && cmake --build build/release --target generated
	tests/lint.py

sanitize: ## the tests under the address, undefined-behaviour and thread sanitizers
	deploy/setup.sh build test
	cmake --preset asan && cmake --build build/asan --target tests-for-asan
	$(ctest) --test-dir build/asan -L '^(unit|property|golden|simulation|fuzz|loopback|asan)$$'
	cmake --preset tsan && cmake --build build/tsan --target tests-for-tsan
	$(ctest) --test-dir build/tsan -L '^(unit|simulation|loopback)$$'

fuzz: ## a minute of libFuzzer for each parser
	deploy/setup.sh build fuzz
	cmake --preset fuzz && cmake --build build/fuzz
	tests/fuzz/run.sh build/fuzz/bin 60

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20
