# Everything for working on Muster. Build, test and demo need only Go and make.
#
# Nothing here changes compiler flags (no -gcflags, no -trimpath), so make, an editor, `go build ./...` and `go test ./...` share
# one cache. -ldflags only affect the linker.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X muster/cmd/muster/cli.Version=$(VERSION)
BUILD    = GO="$(GO)" deploy/build/build.sh
ONCE    ?=
REDIS_URL ?=
# For chaos: the seed of all choices (0: picked and printed), and the number of faults on the fake cloud, on sandbox nodes, and
# with several servers on one PostgreSQL. RACE=1: with the race detector.
SEED           ?= 0
ROUNDS         ?= 500
SANDBOX_ROUNDS ?= $(if $(filter 500,$(ROUNDS)),50,0)
MANY_ROUNDS    ?= 0
RACE           ?=

# The race detector skips SQLite, which is C translated to Go with its own locks, and goose, which runs alone: with them,
# tests took ten times as long. This is the only place where packages are compiled with flags of their own.
RACING = -race $(foreach p,modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory github.com/pressly/goose/v3/...,'-gcflags=$p=-race=false -d=checkptr=0')

# For all test runs. `make check` vets everything first. In CI a failed test is run again alone; see cmd/retest. Many tests wait for
# something, so twice as many packages run at once as there are cores.
ATONCE := $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))
TEST = $(if $(CI),GO="$(GO)" $(GO) run ./cmd/retest,$(GO) test) -vet=off -ldflags "-s -w" -p $(ATONCE) -parallel 6 -timeout 20m

# The gate's short checks against real parts: Redis flushed and PostgreSQL killed during a create, the store's
# suite on PostgreSQL, OpenSSH in namespaces, Chromium, one template's software, the API description, release files, scripts.
REAL_MUSTER := ^(TestRealRedisFlushedInTheMiddleOfACreate|TestRealPostgresServersKilledOneAfterTheOther|TestRealOwnerVisitsANode|TestBrowserStory|TestBrowserTerminal|TestRealProvisionerInAnotherNetwork|TestRealTemplateRedis|TestRealOpenAPILintsClean|TestRealFiles)$$
REAL_OTHERS := ^(TestPostgres|TestPostgresServersShareTheWork|TestPostgresMigrationsUpAndDown|TestPostgresBackup|TestShellcheckFindsNothing|TestRealMachines|TestExim)$$

.PHONY: help provider-checks build demo dev dev-clean pages test test-real test-openstack test-all lint check-size check-deploy release release-snapshot check-release release-tools chaos bench bench-go screenshots generate check clean

# See deploy/build/memory.sh. An empty one is Go's default.
dev dev-clean test test-real test-openstack test-all lint check release-tools release-snapshot: export GOGC := $(shell deploy/build/memory.sh)

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r target about; do printf '%-14s %s\n' "$$target" "$$about"; done

build: ## the binary with all providers, bin/muster
	@$(BUILD) bin/muster -ldflags "$(LDFLAGS)"

demo: ## a real cluster on this host, from scratch; ONCE=1 stops once its page was fetched. Builds without the large SDKs: see docs/dependencies.md
	@$(BUILD) bin/muster-small -tags small -ldflags "$(LDFLAGS)"
	@bin/muster-small demo --catalog examples/catalog $(if $(filter-out 0,$(ONCE)),--once)

# The port of the portal for dev; the server itself uses the next one.
PORT ?= 8420

dev: ## a server that restarts when code changes and reloads open pages, with the demo's catalog and a cluster; PORT=8420
	@$(BUILD) bin/muster-dev -tags small -ldflags "-s -w"
	@$(GO) build -o bin/dev ./cmd/dev
	@bin/dev serve -port $(PORT)

dev-clean: ## delete the clusters and data of make dev
	@$(GO) build -o bin/dev ./cmd/dev
	@bin/dev clean -port $(PORT)

test: check ## all tests that need only Go and make; long random tests with fewer rounds than test-all
	$(TEST) -short ./...

test-real: build ## a short check against each real part, in minutes; see deploy/ci/setup.sh for its requirements
	$(TEST) -tags real -run '$(REAL_MUSTER)' ./cmd/muster
	$(TEST) -tags real -run '$(REAL_OTHERS)' ./app/store ./app/store/db ./app/store/backup ./examples ./jobs/email ./providers/static
	$(TEST) -tags small -short ./app/store/blob ./app/store/kms ./providers
	$(TEST) -tags small -short -run Small ./app/store
	$(MAKE) demo ONCE=1 check-size

test-openstack: ## the openstack provider and the program against a real OpenStack, which it starts; needs deploy/ci/setup.sh openstack; part of test-all
	$(TEST) -tags real,openstack -count=1 -timeout 120m ./providers/internal/openstackreal

test-all: build check lint ## everything, in full and with the race detector: all templates, browsers, long variants; about an hour
	$(TEST) $(RACING) -tags real -timeout 60m ./...
	$(TEST) -tags small -short ./app/store/blob ./app/store/kms ./providers
	$(TEST) -tags small -short -run Small ./app/store
	$(MAKE) test-openstack
	$(MAKE) demo ONCE=1 check-size check-deploy check-release
	$(MAKE) chaos ROUNDS=100 SANDBOX_ROUNDS=10 MANY_ROUNDS=10

# In bytes, for Linux on amd64. A change that needs more raises a limit, and explains it in docs/dependencies.md.
SIZE       := 90400000
SIZE_SMALL := 62900000

check-size: ## check the size of the binaries of make build and make demo
	@for f in muster:$(SIZE) muster-small:$(SIZE_SMALL); do size=$$(wc -c <bin/$${f%:*}); \
	  echo "bin/$${f%:*}: $$size bytes of at most $${f#*:}"; [ $$size -le $${f#*:} ] || exit 1; done

check-deploy: build ## check the files of deploy with their tools: Compose, Helm, Kubernetes, nginx, systemd
	cd deploy/check && MUSTER=$(CURDIR)/bin/muster $(GO) test -count=1 ./...

# GoReleaser and the tool that writes SBOMs, pinned in deploy/release/go.mod.
release-tools:
	@mkdir -p bin/tools
	@cd deploy/release && $(GO) build -o $(CURDIR)/bin/tools/ -ldflags "-s -w" tool

release: release-tools ## build, sign and publish the tagged commit; run by .github/workflows/release.yml, see docs/releasing.md
	PATH="$(CURDIR)/bin/tools:$$PATH" goreleaser release --clean

release-snapshot: release-tools ## build everything that a release publishes in bin/release, unsigned and unpublished; images need Docker with buildx
	PATH="$(CURDIR)/bin/tools:$$PATH" deploy/release/snapshot.sh

check-release: release-snapshot ## check bin/release: start programs, unpack archives and packages, verify checksums; part of test-all
	cd deploy/check && RELEASE=$(CURDIR)/bin/release $(GO) test -count=1 -tags release -timeout 20m -run TestRelease ./...

chaos: ## kills, freezes and lost responses from a seed, checking that nothing is lost; RACE=1 uses a binary with the race detector
	@mkdir -p bin
	@$(GO) build $(if $(RACE),$(RACING)) -ldflags "-s -w" -tags chaos -o bin/muster-chaos ./cmd/muster
	@$(GO) build -ldflags "-s -w" -o bin/chaos ./cmd/chaos
	@if [ $(ROUNDS) -gt 0 ]; then bin/chaos -muster bin/muster-chaos -seed $(SEED) -rounds $(ROUNDS); fi
	@if [ $(SANDBOX_ROUNDS) -gt 0 ]; then bin/chaos -muster bin/muster-chaos -seed $(SEED) -rounds $(SANDBOX_ROUNDS) -nodes sandbox; fi
	@if [ $(MANY_ROUNDS) -gt 0 ]; then bin/chaos -muster bin/muster-chaos -seed $(SEED) -rounds $(MANY_ROUNDS) -topology many; fi

# Options of cmd/bench for bench, such as '-only "engine: over SSH" -runs 3', and a commit that it's compared with, such as HEAD~1.
OPTIONS ?=
BASE    ?=

bench: ## measure solver, planner, engine and portal against limits and other tools; BASE=commit compares with that commit instead
	@$(GO) run -tags real ./cmd/bench $(if $(BASE),-base $(BASE)) $(OPTIONS)
ifeq ($(BASE),)
	@printf '\n10,000 random problems: feasibility, layout and smallest conflict beside brute force\n'
	@$(GO) test -count=1 -run 'SameAs|AreSmallest' ./solver ./solver/explain -rounds 10000
	@$(GO) test -count=1 -run SameAs ./solver/change
endif

bench-go: ## every benchmark of every package
	$(GO) test -run '^$$' -bench . -benchmem ./...

screenshots: ## screenshots of every page for the docs, with Chromium: docs/screenshots and docs/screenshots.md
	$(GO) test -tags real -count=1 -timeout 20m -run TestScreenshots ./cmd/demodata -screenshots $(CURDIR)/docs/screenshots

generate: pages migrations/schema/sqlite.sql bin/generated-docs ## write what is generated from code: Go code of pages, docs/openapi*.json, cli-reference, configuration, metrics, the schema

pages:
	@$(GO) run ./cmd/dev generate

migrations/schema/sqlite.sql: $(wildcard migrations/*.sql)
	$(GO) test -vet=off -count=1 -run '^TestSchemaIsWhatMigrationsMake$$' ./app/store/db -write

# Generating these takes a build of the server, so it's done only if code other than that of pages has changed.
bin/generated-docs: $(shell find app automators bot cmd/muster jobs planner portal providers solver -name '*.go' ! -name '*_templ.go' ! -name '*_test.go') | pages
	$(GO) test -vet=off -ldflags "-s -w" -count=1 -run '^(TestOpenAPIIsWrittenDown|TestReferenceIsWrittenDown|TestConfigurationIsWrittenDown)$$' ./cmd/muster -write
	$(GO) test -vet=off -count=1 -run '^TestDocsListAllMetrics$$' ./cmd/muster/observe/metrics -write
	@mkdir -p bin && touch $@

# Not part of check, since a new CI machine would spend 3 minutes of CPU on compiling the linters, and 9 on a first run (with 2 cores).
# Later runs analyze only changed packages and those that depend on them: 3 s without changes, up to 3 minutes after a change everywhere.
lint: ## look for faults with golangci-lint, pinned in deploy/lint/go.mod; part of test-all
	@cd deploy/lint && $(GO) build -o $(CURDIR)/bin/golangci-lint -ldflags "-s -w" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run ./...
	bin/golangci-lint run --build-tags small ./app/cloudurl ./app/store/... ./cmd/muster/wiring ./providers

provider-checks: ## write the table of checks in docs/providers.md, as tests find that they apply; the real parts need deploy/ci/setup.sh
	MUSTER_WRITE_CHECKS=1 $(GO) test -vet=off -count=1 -tags real -p 1 -run 'Suite|TestRealMachines' ./providers/...

check: ## formatting and go vet
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	@$(GO) build -o bin/vet ./cmd/vet
	$(GO) vet -vettool=$(CURDIR)/bin/vet -tags real,openstack ./...

clean: ## delete bin
	rm -rf bin
