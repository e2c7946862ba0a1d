# Each command first sets up .venv, which needs only Python 3.11, pip and make.

.DEFAULT_GOAL := help
.PHONY: demo test check bench docs soak help

PYTHON ?= $(firstword $(foreach name,python3.11 python3 python3.12 python3.13 python3.14,$(if $(shell $(name) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(name))))
BIN := .venv/bin
# Needed only by the browser tests.
WEB_TESTS := "playwright>=1.60,<2" "axe-playwright-python>=0.1.7,<0.2"
# All commands share the compiled kernels.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.venv/kernels
# The tests start the program hundreds of times, and each start would take seconds without compiled modules.
unexport PYTHONDONTWRITEBYTECODE
# Compile once, before the tests start several processes.
COMPILE_KERNELS = $(BIN)/python -m tests.compile_kernels
# These tests run in make check.
IN_CHECK = tests/project tests/typing

demo: .venv/ready  ## Plan a trip from Kamppi to Espoo through the MCP server
	@FINGERPOST_HOME="$${FINGERPOST_HOME:-$(CURDIR)/.venv/demo}" $(BIN)/python examples/plan_through_mcp.py

test: .venv/ready oracle  ## Run the tests (TESTS=tests/rules selects some; OPTIONS=-x is passed to pytest)
	@$(COMPILE_KERNELS)
	@$(BIN)/pytest --numprocesses auto --dist worksteal -m "not slow" $(if $(TESTS),,$(IN_CHECK:%=--ignore=%)) $(OPTIONS) $(TESTS)

.PHONY: test-slow
test-slow: .venv/ready  ## Run the tests that start, kill and restart servers, and all examples in the docs
	@$(COMPILE_KERNELS)
	@$(BIN)/pytest --numprocesses auto --dist worksteal -m slow $(OPTIONS) $(TESTS)

check: .venv/ready  ## Check style, formatting, types, import layers and project conventions
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/pytest -q $(IN_CHECK)

bench: .venv/ready oracle  ## Benchmark tools over HTTP against a no-op tool, and handlers with a mock upstream
	@$(BIN)/python bench/run.py

.PHONY: bench-beside
bench-beside: .venv/ready  ## Benchmark calls against the baseline, or another commit (COMMIT=HEAD~1)
	@$(BIN)/python bench/over_http.py $(COMMIT:%=--commit %)

.PHONY: bench-engine
bench-engine: .venv/ready oracle  ## Benchmark trips in New York against the baseline, and searches against nigiri
	@$(BIN)/python bench/engine.py $(COMMIT:%=--commit %)

.PHONY: bench-filings
bench-filings: .venv/edgartools/ready  ## Benchmark figures against edgartools, and list where the two disagree
	@$(BIN)/python bench/filings.py .venv/edgartools/bin/python

# Only this benchmark needs edgartools, which takes half a gigabyte, so it has its own environment.
.venv/edgartools/ready: .venv/ready
	@echo "Setting up edgartools for the comparison ..."
	@$(BIN)/python -m venv .venv/edgartools
	@.venv/edgartools/bin/python -m pip install --quiet --disable-pip-version-check "edgartools==5.62.0"
	@touch $@

.PHONY: bench-first
bench-first: .venv/ready  ## Benchmark the first answer of a fresh install against later ones, at the terminal and over HTTP
	@$(BIN)/python bench/first_answer.py

.PHONY: bench-import
bench-import: .venv/ready oracle  ## Benchmark the import of New York's feeds against nigiri's
	@$(BIN)/python bench/import_feeds.py

.PHONY: bench-scale
bench-scale: .venv/ready  ## Measure time and memory for Helsinki, New York and a country of five New Yorks
	@$(BIN)/python bench/scale.py

.PHONY: bench-streets
bench-streets: .venv/ready  ## Benchmark trips with streets against straight lines, and the preparation of streets
	@$(BIN)/python bench/streets.py

.PHONY: bench-questions
bench-questions: .venv/ready  ## Score the MCP server on the 150 published questions, with a scripted agent
	@$(BIN)/python bench/questions/run.py --verbose 2>/dev/null

.PHONY: bench-realtime
bench-realtime: .venv/ready oracle  ## Benchmark searches with realtime data against nigiri
	@$(BIN)/python bench/beside_nigiri.py

# The rival engines have their own environment; if they cannot be installed, the benchmark reports that.
.PHONY: bench-plans
bench-plans: .venv/ready  ## Benchmark a plan against plain code, DBOS and LangGraph
	@test -x .venv/rivals-plans/bin/python || $(BIN)/python -m venv .venv/rivals-plans
	@.venv/rivals-plans/bin/python -m pip install --quiet --disable-pip-version-check "dbos>=3.4,<4" "langgraph>=1.2,<2" langgraph-checkpoint-sqlite aiosqlite || echo "The rivals could not be installed."
	@$(BIN)/python bench/plans.py --rivals "$$(.venv/rivals-plans/bin/python -c 'import dbos, langgraph, aiosqlite, sys; print(sys.executable)' 2>/dev/null)"

# This needs no container engine, and installs a few hundred megabytes into a temporary folder.
.PHONY: try-deploy
try-deploy: .venv/ready  ## Run the container file's steps in a fresh environment, and request the started server
	@$(BIN)/python deploy/try_steps.py

.PHONY: bench-load
bench-load: .venv/ready  ## Benchmark plan_trip from 50 connections, with one and two workers
	@$(BIN)/python bench/load.py

.PHONY: bench-hostile
bench-hostile: .venv/ready  ## Measure one caller's latency while another address attacks the server
	@$(BIN)/python bench/hostile.py

.PHONY: bench-damage
bench-damage: .venv/ready  ## Damage each file in a home folder in several ways, and compare the answers
	@$(BIN)/python bench/damage.py

# Atheris supports only Linux. The corpus is stored, so that the next run continues from it.
FUZZED := realtime:250000 plan:200000 table:200000 filings:150000 documents:150000 record:30000 upstream:25000 archive:15000 extract:10000
.PHONY: fuzz
fuzz: .venv/ready  ## Fuzz all parsers of untrusted bytes with a million inputs, guided by coverage
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "atheris>=3.0,<4"
	@for each in $(FUZZED); do echo "$$each"; $(BIN)/python bench/fuzz.py $${each%:*} $${each#*:} .venv/fuzz/$${each%:*} >.venv/fuzz.log 2>&1 || { tail -n 40 .venv/fuzz.log; exit 1; }; done

.PHONY: mutants
mutants: .venv/ready  ## Run mutation tests on a sample of the code (TARGETS="transit/rules plan")
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "mutmut>=3.8,<4"
	@$(BIN)/python -m tests.mutation $(TARGETS)

docs: .venv/ready  ## Generate docs/reference from the code, and check the links, prose and examples of all pages
	@$(BIN)/python docs/generate.py
	@$(COMPILE_KERNELS)
	@$(BIN)/pytest -q --numprocesses auto --dist worksteal tests/docs tests/project/test_words.py

.PHONY: site
site: .venv/site/ready  ## Build the documentation site in build/site
	@rm -rf build/site build/site-source && mkdir -p build/site-source
	@git ls-files -co --exclude-standard -- $(SITE_FILES) | tar --create --files-from - | tar --extract --directory build/site-source
	@.venv/site/bin/zensical build --strict

# All files get the same mode and time, so that builds are reproducible; a zip stores local times.
.PHONY: bundle
bundle: .venv/ready  ## Build build/fingerpost.mcpb, an MCP bundle
	@rm -rf build/mcpb build/fingerpost.mcpb && mkdir -p build/mcpb
	@git ls-files -- src README.md LICENSE CHANGELOG.md pyproject.toml | tar --create --files-from - | tar --extract --directory build/mcpb
	@cp deploy/mcpb/manifest.json build/mcpb && chmod -R u=rwX,go=rX build/mcpb && find build/mcpb -exec touch -d 2020-02-02T00:00:00Z {} +
	@cd build/mcpb && TZ=UTC $(CURDIR)/$(BIN)/python -m zipfile --create ../fingerpost.mcpb *

SITE_FILES := '*.md' 'docs/views/*.png' 'docs/explanation/*.svg' docs/theme deploy examples .ci LICENSE Makefile pyproject.toml
.venv/site/ready: .venv/ready
	@$(BIN)/python -m venv .venv/site
	@.venv/site/bin/python -m pip install --quiet --disable-pip-version-check "zensical>=0.0.73"
	@touch $@

.PHONY: test-new-draws
test-new-draws: .venv/ready  ## Run the property tests with new examples, and print the seed (SEED=...)
	@FINGERPOST_NEW_DRAWS=1 $(BIN)/pytest -q --numprocesses auto --dist loadfile -m hypothesis --hypothesis-seed=$(or $(SEED),$(shell date +%s)) $(TESTS)

.PHONY: worlds
worlds: .venv/ready  ## Run network check on random cities (WORLDS=0:120 selects other seeds)
	@$(COMPILE_KERNELS)
	@FINGERPOST_WORLDS=$(or $(WORLDS),20:120) $(BIN)/pytest -q tests/worlds/test_worlds.py

.PHONY: test-bounds
test-bounds: .venv/ready  ## Run the search and street tests with bounds checks in the kernels
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.venv/kernels_with_checks $(BIN)/pytest -q tests/raptor tests/streets

soak: .venv/ready oracle  ## Run all long tests: oracles and nigiri, 1,000 kills, faults at every system call, fuzzing, damaged files, ten minutes of load, a hostile caller, New York in a browser, mutants, and the tests under other conditions
	@FINGERPOST_SOAK=1 $(BIN)/pytest tests/raptor tests/gtfs tests/worlds tests/embedded/test_riders_against_oracle.py tests/riders tests/plan/test_kill.py tests/plan/suite tests/faults tests/apps/test_generated_calls.py tests/apps/test_event_loop.py
	@FINGERPOST_SOAK=1 $(BIN)/python -m tests.scale tests/plan/test_kill.py tests/plan/suite tests/scale -k "postgres or dbos or scale"
	@$(BIN)/python bench/beside_nigiri.py --check 1
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory test-new-draws
	@first=$$(date +%s); $(MAKE) --no-print-directory worlds WORLDS=$$first:$$((first + 500))
	@$(BIN)/python bench/load.py --seconds 600
	@$(MAKE) --no-print-directory bench-hostile
	@$(MAKE) --no-print-directory bench-damage
	@$(MAKE) --no-print-directory test-web TESTS=tests/views/test_new_york.py
	@$(MAKE) --no-print-directory mutants TARGETS="transit/rules transit/tools transit/embedded"
	@$(BIN)/python -m tests.conditions

.PHONY: test-wheel
test-wheel: .venv/ready  ## Build the wheel, install it into a fresh environment, and run it from another folder
	@FINGERPOST_WHEEL=1 $(BIN)/pytest tests/wheel

# Without Java, Maven or Tampere's data, the tests are skipped, with the reason.
.PHONY: test-otp
test-otp: .venv/ready  ## Run the tests that need a real OpenTripPlanner, which is downloaded once and serves Tampere
	@$(BIN)/python -m tests.otp_server $(TESTS)

# Without PostgreSQL, the tests are skipped, with the reason; on Debian, root installs it first.
.PHONY: test-scale
test-scale: .venv/ready  ## Run the tests that need a real PostgreSQL server, which is shared, disconnected and restarted
	@$(BIN)/python -m tests.scale $(TESTS)

# Installs Playwright and Chromium if possible; otherwise, the tests are skipped, with the reason.
.PHONY: test-web
test-web: .venv/ready  ## Test the views and the web page in a real browser, also with axe
	@tests/views/install_browser.sh
	@$(BIN)/python -c "import playwright, axe_playwright_python" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check $(WEB_TESTS) || echo "Playwright or axe could not be installed."
	@test -x .venv/typescript/node_modules/.bin/tsc || npm install --silent --no-audit --no-fund --prefix .venv/typescript "typescript@5" || echo "TypeScript could not be installed."
	@$(BIN)/pytest --numprocesses auto --dist worksteal $(if $(TESTS),$(TESTS),$(addprefix tests/views/test_,in_browser.py legible.py map.py ground.py other_contracts.py web_page.py web_safety.py types.py))

# Without Node or its registry, the tests are skipped, with the reason.
.PHONY: test-typescript
test-typescript: .venv/ready  ## Test the server with the TypeScript SDK, the Inspector in strict mode, and the protocol's conformance suite
	@command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix .venv/typescript \
		"@modelcontextprotocol/sdk@1" "@modelcontextprotocol/client@2" "@modelcontextprotocol/inspector@2" \
		"@modelcontextprotocol/conformance@0.2.0-alpha.12" "node@22" || echo "The npm packages could not be installed."
	@FINGERPOST_TYPESCRIPT=$(CURDIR)/.venv/typescript $(BIN)/pytest tests/apps/test_typescript_sdk.py tests/apps/test_protocol_suite.py

# Review the pictures after changing a view; they are stored in the repository.
.PHONY: pictures
pictures: .venv/ready  ## Update the pictures in docs/views.md and docs/web.md in a real browser
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(WEB_TESTS)
	@$(BIN)/python -m tests.views.screenshots docs/views

help:  ## List the commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

# CI tests the versions and hashes that the image installs.
.venv/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed, and was not found. Say where: make PYTHON=..." >&2; exit 1; }
	@echo "Setting up .venv with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@test -z "$(CI)" || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement deploy/requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

# Without a wheel of the second oracle, its tests are skipped, with the reason.
.PHONY: oracle
oracle: .venv/oracle
	@$(BIN)/python -c "import pynigiri" 2>/dev/null || echo "No pynigiri here: the comparisons with it are skipped."

.venv/oracle: .venv/ready
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 1 --only-binary :all: --group oracle 2>/dev/null; \
	then touch $@; else echo "pynigiri could not be installed; it is tried again next time."; fi
