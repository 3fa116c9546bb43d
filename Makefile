# The commands of this house. Everything needs Go and nothing else; what else
# is used (pylance, versitygw, shared/) is found or skipped loudly.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/omnideck/omnideck/cli.version=$(VERSION)
# Google's client carries a gRPC half that the bucket driver never calls: 13 MB and 3 ms at start.
TAGS    := disable_grpc_modules
# What starts goroutines; what cli has of them is tui's stage and engine's.
RACE    := ./blob/... ./cost/... ./lance ./lance/commit ./lance/file ./manifest ./branches ./txn ./recovery/... ./engine ./tui/... ./internal/pace ./internal/beside
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: build test race check fmt vet lint arch generate tidy clean-tree cross s3 bench bench-writes fuzz goldens

build: ## the binary, static, in ./omnideck
	CGO_ENABLED=0 $(GO) build -trimpath -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o omnideck .

test: ## every test, as the README says
	$(GO) test ./...

race: ## the packages with goroutines, under the race detector; long tables are sampled (internal/pace)
	$(GO) test -race -vet=off -timeout 20m $(RACE)

check: fmt vet lint arch test race generate tidy clean-tree ## all that must be green before a commit lands

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not gofmt-ed:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...

lint:
	$(GO) tool staticcheck ./...

arch:
	$(GO) test ./internal/arch

generate:
	$(GO) generate ./...

tidy:
	$(GO) mod tidy

clean-tree: ## generate and tidy must leave nothing behind
	@git diff --exit-code -- '*.go' '*.proto' go.mod go.sum docs || { echo "generate or tidy changed the tree"; exit 1; }

cross: ## static builds for every platform; only linux is run anywhere
	@for p in $(PLATFORMS); do \
	  os=$${p%/*}; arch=$${p#*/}; ext=; [ $$os = windows ] && ext=.exe; \
	  echo "build $$p"; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o dist/omnideck-$$os-$$arch$$ext . || exit 1; \
	done

s3: ## build versitygw and s3meter into ./bin and start both; ends on Ctrl-C
	$(GO) run ./internal/s3lab

bench: ## our reader and our writer against pylance, each in one run
	$(GO) run ./internal/bench
	$(GO) run ./internal/bench -write

bench-writes: build ## a mutation, and a load of a million nodes and a million edges, beside the Rust CLI (OMNIGRAPH_BIN)
	$(GO) run ./internal/bench -mutate maintained -runs 30
	$(GO) run ./internal/bench -load

FUZZTIME ?= 20s
fuzz: ## every fuzz target, FUZZTIME each
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg 2>/dev/null | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done

GOLDEN := ./engine ./lance/file ./tui ./tui/action ./tui/part ./tui/screen
goldens: ## rewrite all golden files; look at the diff before you commit it
	$(GO) test $(GOLDEN) -update
	UPDATE_SCRIPTS=1 $(GO) test ./cli -run TestScripts
	$(GO) test ./cli -run Docs -update
