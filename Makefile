# Everything that one does with Muster. Go and make are all that is needed for build, test and demo.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
BUILD    = $(GO) build -ldflags "-s -w -X main.version=$(VERSION)"
# Everything is compiled with the same flags, tests as well as what is shipped: all the libraries for clouds take minutes each time.
# Of theirs nothing is inlined, which halves that, and no page into what shows it, which made portal's compilation three times as long.
# What debuggers read is left out, an eighth: what is built has it stripped, and so have tests. For a debugger, take go build.
export GOFLAGS := $(GOFLAGS) -trimpath -gcflags=all=-dwarf=false $(foreach p,github.com/aws/aws-sdk-go-v2/... google.golang.org/api/... \
  cloud.google.com/... github.com/envoyproxy/...,'-gcflags=$p=-l -dwarf=false') '-gcflags=muster/portal/...=-d=inlfuncswithclosures=0 -dwarf=false'
# The race detector needs a C compiler; without one Go says so here, and the tests run without it. CI insists on it. It does not look into
# SQLite, which is C made into Go and takes its locks itself, nor into goose, which runs alone: with them, tests took ten times as long.
RACE    ?= $(if $(CI)$(filter 1,$(shell $(GO) env CGO_ENABLED)),-race $(UNRACED))
UNRACED  = $(foreach p,modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory github.com/pressly/goose/v3/...,'-gcflags=$p=-race=false -d=checkptr=0')
ONCE    ?=
REDIS_URL ?=
# Of chaos: what all choices follow from (0: made up and printed), and how many faults on the fake cloud, on sandbox nodes, and
# with several servers on one PostgreSQL.
SEED           ?= 0
ROUNDS         ?= 500
SANDBOX_ROUNDS ?= $(if $(filter 500,$(ROUNDS)),50,0)
MANY_ROUNDS    ?= 0

# Of every run of tests. `make check` has vetted all before.
TEST := -vet=off -parallel 6 -timeout 20m

# What `make test` has not tried, or not in full: tests with real parts, and those that are shorter there. Some packages have them under names of their own,
# in some they are most of all. TestRealPartsAreNamed holds files to it, and what stands in neither has none. Those of portal are browsers all: more than three
# at once only wait for one another.
REAL  := ^Test(Real|Browser|NothingForeign|SlackStory|Screenshots|.*InABrowser)
NAMED := ./cmd/... ./portal
WHOLE := ./app/store ./backup ./examples ./portal/page ./solver

# What is tried with the race detector against real parts: what speaks to machines and other hosts. The libraries of the large clouds take minutes to be
# compiled once more, and pages and PostgreSQL take twice their time: they are tried without, and with it by `make test-race`. A new machine has to have
# the whole gate done in half an hour.
LARGE := ./blob ./kms ./providers ./providers/aws ./providers/google
RACED  = $$($(GO) list ./app ./app/ledger ./jobs/... ./webhook/... ./bot/... ./automators/... ./providers/... | grep -v -x -F "$$($(GO) list $(LARGE))")

.PHONY: build demo test test-real test-race check-deploy chaos bench bench-go screenshots generate check clean

build: ## the binary, bin/muster
	@mkdir -p bin
	$(BUILD) -o bin/muster ./cmd/muster

demo: build ## a real cluster on this host, from nothing; ONCE=1 stops after its page was fetched
	@bin/muster demo --catalog examples/catalog $(if $(filter-out 0,$(ONCE)),--once)

test: check ## all tests that need nothing but Go and make; the longest random ones in fewer rounds than test-real
	$(GO) test -short $(TEST) ./...

test-real: build ## what needs real parts, and what takes long: see deploy/ci/setup.sh for what it needs
	$(GO) test -tags real $(TEST) -run '$(REAL)' $(firstword $(NAMED))
	$(GO) test -tags real $(TEST) -run '$(REAL)' -parallel 3 $(lastword $(NAMED))
	$(GO) test -tags real $(TEST) $(WHOLE)
	$(GO) test $(RACE) -tags real $(TEST) $(RACED)
	bin/muster demo --catalog examples/catalog --once

test-race: ## everything with the race detector, in its shorter form; takes long where nothing is compiled yet
	$(GO) test $(RACE) -short $(TEST) ./...

check-deploy: build ## the files of deploy, by what reads them: Compose, Helm, Kubernetes, nginx, systemd
	cd deploy/check && MUSTER=$(CURDIR)/bin/muster $(GO) test -count=1 ./...

chaos: ## kills, freezes and lost answers from a seed, and what was lost: nothing; RACE=1 tries a binary with the race detector
	@mkdir -p bin
	@$(GO) build $(if $(filter 1,$(RACE)),-race $(UNRACED)) -ldflags "-s -w" -tags chaos -o bin/muster-chaos ./cmd/muster
	@$(GO) build -ldflags "-s -w" -o bin/chaos ./cmd/chaos
	@if [ $(ROUNDS) -gt 0 ]; then bin/chaos -muster bin/muster-chaos -seed $(SEED) -rounds $(ROUNDS); fi
	@if [ $(SANDBOX_ROUNDS) -gt 0 ]; then bin/chaos -muster bin/muster-chaos -seed $(SEED) -rounds $(SANDBOX_ROUNDS) -nodes sandbox; fi
	@if [ $(MANY_ROUNDS) -gt 0 ]; then bin/chaos -muster bin/muster-chaos -seed $(SEED) -rounds $(MANY_ROUNDS) -topology many; fi

bench: ## what solver, planner and engine cost here, beside their limits and what others took
	@$(GO) run ./cmd/bench
	@printf '\n10,000 random problems: feasibility, layout and smallest conflict beside brute force\n'
	@$(GO) test -count=1 -run 'SameAs|AreSmallest' ./solver -rounds 10000 -explain-rounds 10000

bench-go: ## every benchmark of every package
	$(GO) test -run '^$$' -bench . -benchmem ./...

screenshots: ## pictures of every page for the docs, with Chromium: docs/screenshots and docs/screenshots.md
	$(GO) test -tags real -count=1 -timeout 20m -run TestScreenshots ./cmd/house -screenshots $(CURDIR)/docs/screenshots

generate: ## pages from their templates, and docs/openapi.json from the API
	$(GO) generate ./portal/page
	$(GO) test -count=1 -run TestOpenAPIIsWrittenDown ./cmd/muster -write-openapi

check:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet -tags real ./...

clean:
	rm -rf bin
