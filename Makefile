# The commands of this project. Each one sets up .venv first, on a machine that has only Python 3.11, pip and make.

.DEFAULT_GOAL := help
.PHONY: demo test check bench docs soak help

PYTHON ?= $(firstword $(foreach name,python3.11 python3 python3.12 python3.13 python3.14,$(if $(shell $(name) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(name))))
BIN := .venv/bin
# What only the tests in a browser need.
WEB_TESTS := "playwright>=1.60,<2" "axe-playwright-python>=0.1.7,<0.2"
# Machine code that was compiled once serves every command.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.venv/kernels
# The tests start the program hundreds of times; without compiled modules each start takes seconds.
unexport PYTHONDONTWRITEBYTECODE
# Once, before tests start in several processes.
COMPILE_KERNELS = $(BIN)/python -m tests.compile_kernels
# These tests run in make check.
IN_CHECK = tests/project tests/typing

demo: .venv/ready  ## Plan a trip from Kamppi to Espoo through the MCP server
	@FINGERPOST_HOME="$${FINGERPOST_HOME:-$(CURDIR)/.venv/demo}" $(BIN)/python examples/plan_through_mcp.py

test: .venv/ready oracle  ## Run the tests (TESTS=tests/rules for a part, OPTIONS=-x for options of pytest)
	@$(COMPILE_KERNELS)
	@$(BIN)/pytest --numprocesses auto --dist worksteal -m "not slow" $(if $(TESTS),,$(IN_CHECK:%=--ignore=%)) $(OPTIONS) $(TESTS)

.PHONY: test-slow
test-slow: .venv/ready  ## Run the tests that start, kill and restart servers, and every example of the documents
	@$(COMPILE_KERNELS)
	@$(BIN)/pytest --numprocesses auto --dist worksteal -m slow $(OPTIONS) $(TESTS)

check: .venv/ready  ## Lint, format, types, the direction of imports, and the habits of the project
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/pytest -q $(IN_CHECK)

bench: .venv/ready oracle  ## Measure: HTTP beside a no-op tool, and handlers with a mock upstream
	@$(BIN)/python bench/run.py

.PHONY: bench-beside
bench-beside: .venv/ready  ## Measure: calls of this checkout beside those of the baseline, or of another commit (COMMIT=HEAD~1)
	@$(BIN)/python bench/over_http.py $(COMMIT:%=--commit %)

.PHONY: bench-engine
bench-engine: .venv/ready oracle  ## Measure: trips of New York beside the baseline, searches beside nigiri
	@$(BIN)/python bench/engine.py $(COMMIT:%=--commit %)

.PHONY: bench-filings
bench-filings: .venv/edgartools/ready  ## Measure: figures beside edgartools, and where the two disagree
	@$(BIN)/python bench/filings.py .venv/edgartools/bin/python

# Half a gigabyte that only this bench needs: in an environment of its own.
.venv/edgartools/ready: .venv/ready
	@echo "Setting up edgartools for the comparison ..."
	@$(BIN)/python -m venv .venv/edgartools
	@.venv/edgartools/bin/python -m pip install --quiet --disable-pip-version-check "edgartools==5.62.0"
	@touch $@

.PHONY: bench-first
bench-first: .venv/ready  ## Measure: the first answer of a fresh install beside a warm one, at the terminal and over HTTP
	@$(BIN)/python bench/first_answer.py

.PHONY: bench-import
bench-import: .venv/ready oracle  ## Measure: zip to ready network beside nigiri's load, for New York
	@$(BIN)/python bench/import_feeds.py

.PHONY: bench-scale
bench-scale: .venv/ready  ## Measure: time and memory for Helsinki, New York and a country of five New Yorks
	@$(BIN)/python bench/scale.py

.PHONY: bench-streets
bench-streets: .venv/ready  ## Measure: plans with streets beside the straight line, and preparing streets
	@$(BIN)/python bench/streets.py

.PHONY: bench-questions
bench-questions: .venv/ready  ## Score the MCP server on the 150 published questions, with a scripted agent
	@$(BIN)/python bench/questions/run.py --verbose 2>/dev/null

.PHONY: bench-realtime
bench-realtime: .venv/ready oracle  ## Measure: questions under real time beside nigiri
	@$(BIN)/python bench/beside_nigiri.py

# Two engines that do the same, in an environment of their own; where they cannot be had, the bench says so.
.PHONY: bench-plans
bench-plans: .venv/ready  ## Measure: a plan beside no engine, DBOS and LangGraph
	@test -x .venv/rivals-plans/bin/python || $(BIN)/python -m venv .venv/rivals-plans
	@.venv/rivals-plans/bin/python -m pip install --quiet --disable-pip-version-check "dbos>=3.4,<4" "langgraph>=1.2,<2" langgraph-checkpoint-sqlite aiosqlite || echo "The rivals could not be installed."
	@$(BIN)/python bench/plans.py --rivals "$$(.venv/rivals-plans/bin/python -c 'import dbos, langgraph, aiosqlite, sys; print(sys.executable)' 2>/dev/null)"

# Needs no container engine; it installs some hundred megabytes into a temporary folder.
.PHONY: try-deploy
try-deploy: .venv/ready  ## Run the container file's steps in a fresh environment, and request the started server
	@$(BIN)/python deploy/try_steps.py

.PHONY: bench-load
bench-load: .venv/ready  ## Measure: plan_trip from 50 connections, over one and two workers
	@$(BIN)/python bench/load.py

.PHONY: bench-hostile
bench-hostile: .venv/ready  ## Measure: one caller beside an address with many connections in each state, or with expensive calls
	@$(BIN)/python bench/hostile.py

.PHONY: bench-damage
bench-damage: .venv/ready  ## Damage each file of a home folder in each way, and compare the answers
	@$(BIN)/python bench/damage.py

# Atheris exists for Linux only. The corpus is kept, so that the next run begins where this one ended.
FUZZED := realtime:250000 plan:200000 table:200000 filings:150000 documents:150000 record:30000 upstream:25000 archive:15000 extract:10000
.PHONY: fuzz
fuzz: .venv/ready  ## Feed a million mutated inputs to everything that parses foreign bytes, guided by coverage
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "atheris>=3.0,<4"
	@for each in $(FUZZED); do echo "$$each"; $(BIN)/python bench/fuzz.py $${each%:*} $${each#*:} .venv/fuzz/$${each%:*} >.venv/fuzz.log 2>&1 || { tail -n 40 .venv/fuzz.log; exit 1; }; done

.PHONY: mutants
mutants: .venv/ready  ## Put small faults into the code, a sample of them, and count those that a test finds (TARGETS="transit/rules plan")
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "mutmut>=3.8,<4"
	@$(BIN)/python -m tests.mutation $(TARGETS)

docs: .venv/ready  ## Generate docs/reference from the code, and check every page: its links, prose and examples
	@$(BIN)/python docs/generate.py
	@$(COMPILE_KERNELS)
	@$(BIN)/pytest -q --numprocesses auto --dist worksteal tests/docs tests/project/test_words.py

.PHONY: site
site: .venv/site/ready  ## Build the documents as a site with search, in build/site
	@rm -rf build/site build/site-source && mkdir -p build/site-source
	@git ls-files -co --exclude-standard -- $(SITE_FILES) | tar --create --files-from - | tar --extract --directory build/site-source
	@.venv/site/bin/zensical build --strict

# The same files give the same bundle: all have one mode and one time, which a zip stores in local time.
.PHONY: bundle
bundle: .venv/ready  ## Pack build/fingerpost.mcpb, which hosts of MCP bundles install
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
test-new-draws: .venv/ready  ## Run the property tests on new examples, and print the seed (SEED=...)
	@FINGERPOST_NEW_DRAWS=1 $(BIN)/pytest -q --numprocesses auto --dist loadfile -m hypothesis --hypothesis-seed=$(or $(SEED),$(shell date +%s)) $(TESTS)

.PHONY: worlds
worlds: .venv/ready  ## Check random cities, as network check does (WORLDS=0:120 for other seeds)
	@$(COMPILE_KERNELS)
	@FINGERPOST_WORLDS=$(or $(WORLDS),20:120) $(BIN)/pytest -q tests/worlds/test_worlds.py

.PHONY: test-bounds
test-bounds: .venv/ready  ## Run the tests of the search and of streets with kernels that check every index
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.venv/kernels_with_checks $(BIN)/pytest -q tests/raptor tests/streets

soak: .venv/ready oracle  ## Run the long comparisons with the oracles and nigiri, 1,000 kills, a fault at every system call, a million mutated inputs, damaged files, load for ten minutes, a hostile caller, a trip of New York in a browser, a sample of small faults, and the tests under other conditions
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
test-wheel: .venv/ready  ## Build the wheel, install it into a fresh environment, and run it from elsewhere
	@FINGERPOST_WHEEL=1 $(BIN)/pytest tests/wheel

# Where Java, Maven or the data of Tampere cannot be had, the tests are skipped and say so.
.PHONY: test-otp
test-otp: .venv/ready  ## Run what needs a real OpenTripPlanner: fetched once, built and started on Tampere
	@$(BIN)/python -m tests.otp_server $(TESTS)

# Where PostgreSQL cannot be had, the tests are skipped and say so; on Debian, as root, it is installed.
.PHONY: test-scale
test-scale: .venv/ready  ## Run what needs a real PostgreSQL: a private one, shared, cut off, restarted
	@$(BIN)/python -m tests.scale $(TESTS)

# Playwright and Chromium are installed where they can be; else the tests are skipped and say so.
.PHONY: test-web
test-web: .venv/ready  ## Show the views and the web page in a real browser, and have axe look at them
	@tests/views/install_browser.sh
	@$(BIN)/python -c "import playwright, axe_playwright_python" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check $(WEB_TESTS) || echo "Playwright or axe could not be installed."
	@test -x .venv/typescript/node_modules/.bin/tsc || npm install --silent --no-audit --no-fund --prefix .venv/typescript "typescript@5" || echo "TypeScript could not be installed."
	@$(BIN)/pytest --numprocesses auto --dist worksteal $(if $(TESTS),$(TESTS),$(addprefix tests/views/test_,in_browser.py legible.py map.py ground.py other_contracts.py web_page.py web_safety.py types.py))

# Where Node or its registry cannot be had, the tests are skipped and say so.
.PHONY: test-typescript
test-typescript: .venv/ready  ## Call the server with the TypeScript SDK, the Inspector in its strict mode, and the protocol's conformance suite
	@command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix .venv/typescript \
		"@modelcontextprotocol/sdk@1" "@modelcontextprotocol/client@2" "@modelcontextprotocol/inspector@2" \
		"@modelcontextprotocol/conformance@0.2.0-alpha.12" "node@22" || echo "The npm packages could not be installed."
	@FINGERPOST_TYPESCRIPT=$(CURDIR)/.venv/typescript $(BIN)/pytest tests/apps/test_typescript_sdk.py tests/apps/test_protocol_suite.py

# They are looked at by whoever changes a view, and kept in the repository.
.PHONY: pictures
pictures: .venv/ready  ## Update the pictures of docs/views.md and docs/web.md in a real browser
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

# The second oracle exists as one wheel. Where it cannot be had, its tests are skipped and say so.
.PHONY: oracle
oracle: .venv/oracle
	@$(BIN)/python -c "import pynigiri" 2>/dev/null || echo "No pynigiri here: the comparisons with it are skipped."

.venv/oracle: .venv/ready
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 1 --only-binary :all: --group oracle 2>/dev/null; \
	then touch $@; else echo "pynigiri could not be installed; it is tried again next time."; fi
