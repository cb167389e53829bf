# Everything a newcomer needs. `make demo` and `make test` install and build what they need.
.DEFAULT_GOAL := help
node := node_modules/.bin/node
ARGS ?=
VERSION ?=
REGISTRY ?=
sudo := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: help demo test test-all e2e e2e-deps nightly bench profile bench-boot bench-disk bench-caches check generate docs format fleet controlplane image container chart release publish clean
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

node_modules/.installed: package.json package-lock.json $(wildcard packages/*/package.json services/*/package.json tools/*/package.json test/testenv/package.json)
	npm $(if $(wildcard node_modules/*),install --no-save,ci) --no-audit --no-fund --loglevel=error
	@touch $@

demo: node_modules/.installed ## Simulated rack on a real Kubernetes API, toured; ARGS="--once --servers 20", ARGS="--machines qemu"
	@$(node) tools/project/src/demo.ts $(ARGS)

test: node_modules/.installed ## Check, then run the tests
	@$(node) tools/project/src/check.ts
	@$(node) tools/project/src/run-tests.ts $(ARGS)

test-all: node_modules/.installed ## The same with full matrices, load, seeds and foreign programs, and `make e2e` beside it; ARGS="--in-sequence"
	@$(node) tools/project/src/test-all.ts $(ARGS)

e2e: node_modules/.installed ## What real machines in QEMU and a real dnsmasq do; needs `make e2e-deps` once
	@$(node) tools/project/src/run-tests.ts --e2e $(ARGS)

e2e-deps: ## Install the Debian packages that real machines need
	$(sudo) apt-get update -q
	$(sudo) apt-get install -qy --no-install-recommends qemu-system-x86 ovmf ipxe-qemu dnsmasq-base busybox-static \
	  binutils systemd-boot-efi cpio zstd ipxe iproute2 bubblewrap runc skopeo jq qemu-utils mtools

nightly: node_modules/.installed ## The seeded tests with 200 seeds; ARGS="--seeds=20 --first-seed=81"
	@$(node) tools/project/src/run-tests.ts --seeds=200 $(ARGS) seeded

bench: node_modules/.installed ## What the operator costs, against budgets; ARGS="--servers 1000", ARGS="--help"
	@$(node) tools/bench/src/bench.ts $(ARGS)

profile: node_modules/.installed ## Where time and memory of the operator go; ARGS="--scenario claim-storm", ARGS="--help"
	@$(node) tools/bench/src/profile.ts $(ARGS)

bench-boot: node_modules/.installed ## What 200 machines that boot one image cost; ARGS="--machines 50 -o json"
	@$(node) tools/bench/src/boot-images.ts $(ARGS)

bench-disk: node_modules/.installed ## What a disk image costs in a real machine, beside dd; needs `make e2e-deps`
	@$(node) tools/bench/src/disk-images.ts $(ARGS)

bench-caches: node_modules/.installed ## What it costs to know a fleet; ARGS="--servers 100,1000,10000"
	@$(node) tools/bench/src/caches.ts $(ARGS)

check: node_modules/.installed ## Types, lint, format, boundaries, words, lock file, generated files
	@$(node) tools/project/src/check.ts

generate: node_modules/.installed ## Write CRDs, roles and reference pages anew
	@$(node) tools/project/src/generate.ts

docs: node_modules/.installed ## The site of the documentation in .docs/site, with its links checked; ARGS="--base /path/"
	@$(node) tools/project/src/docs.ts $(ARGS)

format: node_modules/.installed ## Format the source
	@node_modules/.bin/biome format --write

fleet: node_modules/.installed ## A simulated fleet on its own; ARGS="--count 50"
	@node_modules/.bin/metal-fleet $(ARGS)

controlplane: node_modules/.installed ## A Kubernetes control plane on its own; ARGS="--data .demo"
	@node_modules/.bin/metal-controlplane $(ARGS)

image: node_modules/.installed ## The discovery image: kernel, initrd and UKI in .image; ARGS="--out DIR"
	@$(node) tools/discovery-image/src/main.ts $(ARGS)

container: node_modules/.installed ## The container image: an OCI layout in .container; ARGS="--out DIR", ARGS="--update"
	@$(node) tools/container/src/main.ts $(ARGS)

chart: node_modules/.installed ## The Helm chart in .chart/metal-operator, to install it from here; ARGS="--install-yaml"
	@$(node) tools/project/src/chart.ts $(ARGS)

release: node_modules/.installed ## All files of a release in .release/VERSION; VERSION=0.8.0, ARGS="--help"
	@$(node) tools/release/src/main.ts "$(VERSION)" $(ARGS)

publish: node_modules/.installed ## Push images and chart of a release; VERSION=0.8.0 REGISTRY=registry.example/team
	@$(node) tools/release/src/publish.ts "$(VERSION)" "$(REGISTRY)" $(ARGS)

clean: ## Remove what was installed
	rm -rf node_modules
