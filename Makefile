# askable: `make` lists the targets. Everything lives in .venv of this folder; nothing else on the machine changes.

# The first Python that runs, is new enough and can make an environment; name another with PYTHON=/path/to/python.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
  $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; done; \
  echo python3)
# cpu or gpu: which vLLM is installed.
ENGINE ?= cpu
# Where `make demo` writes; how many processes run tests; what else is given to pytest by `make test`.
DEMO_ROOT ?= runs/demo
TEST_PROCESSES ?= $(shell n=$$(nproc); echo $$((n < 4 ? n : 4)))
PYTEST_ARGS ?=

VENV_PYTHON := .venv/bin/python

# No usage reports, and no look-ups of models on a hub: what runs here is embedded or named by a path.
export RAY_USAGE_STATS_ENABLED := 0
export HF_HUB_DISABLE_TELEMETRY := 1
export VLLM_NO_USAGE_STATS := 1
demo demo-synthesize test: export HF_HUB_OFFLINE := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-synthesize cluster-up cluster-down manifests test check format lock clean

help: ## list the targets
	@echo "usage: make TARGET [PYTHON=python3.11] [ENGINE=cpu|gpu]"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do \
	  printf '  %-16s %s\n' "$$name" "$$what"; done

setup: ## make .venv and install the project with pinned versions (quick when nothing changed)
	@infra/setup/install.sh "$(PYTHON)" "$(ENGINE)"

demo: setup ## evaluate the embedded model on the sample, and report
	$(VENV_PYTHON) -m jobs.ingest source=sample name=sample storage.root=$(DEMO_ROOT)
	$(VENV_PYTHON) -m jobs.evaluate model=smollm2-135m 'datasets=[sample]' 'methods=[zs,fs]' judge=rules \
	  model.sampling.max_tokens=96 storage.root=$(DEMO_ROOT)
	$(VENV_PYTHON) -m jobs.report storage.root=$(DEMO_ROOT) run=main

demo-synthesize: setup ## let the embedded model make questions about the sample, and report what became of them
	$(VENV_PYTHON) -m jobs.ingest source=sample name=sample storage.root=$(DEMO_ROOT)
	$(VENV_PYTHON) -m jobs.synthesize model=smollm2-135m 'datasets=[sample]' limit=4 synthesis.quality_threshold=1 \
	  storage.root=$(DEMO_ROOT)
	$(VENV_PYTHON) -m jobs.report storage.root=$(DEMO_ROOT) run=synthetic

test: setup ## run the tests
	$(VENV_PYTHON) -m pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

cluster-up: setup ## start a local Ray cluster and an S3 server (then: source runs/local/env)
	$(VENV_PYTHON) -m infra.local up

cluster-down: ## stop what cluster-up started
	$(VENV_PYTHON) -m infra.local down

manifests: setup ## check the Kubernetes manifests (CRDS=folder of KubeRay's CRDs)
	$(VENV_PYTHON) -m infra.kuberay.check $(if $(CRDS),--crds $(CRDS))

check: setup ## lint, format and type checks; changes nothing
	$(VENV_PYTHON) -m ruff check
	$(VENV_PYTHON) -m ruff format --check
	$(VENV_PYTHON) -m mypy

format: setup ## mend what the linter can, and format
	$(VENV_PYTHON) -m ruff check --fix
	$(VENV_PYTHON) -m ruff format

lock: setup ## resolve the pinned versions anew (infra/setup/constraints-*.txt)
	infra/setup/lock.sh

clean: ## remove .venv and the tools' caches; runs/ stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find jobs udfs infra conf tests -name __pycache__ -type d -prune -exec rm -rf {} +
