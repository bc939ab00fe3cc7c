.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SOURCES := server identity edge client
FEELIN := $(if $(shell command -v npm),.venv/.feelin)
VIEWERS := edge/console/diagram/LICENSE edge/console/editors/LICENSE edge/documentation/viewer/LICENSE
NODE := $(if $(shell command -v npm),,.venv/.node)
FEEL_SCALA := $(if $(shell command -v mvn),.venv/.feel-scala)
CHECKED := $(SOURCES) tests proto examples hatch_build.py

##@ Use
.PHONY: run durable demo survive
run: .venv/.runtime $(VIEWERS) ## Serve everything in one process, embedded mode
	@$(BIN)/gnomon serve

durable: .venv/.runtime $(VIEWERS) ## Serve durably, with a database of its own in gnomon-data/
	@$(BIN)/gnomon serve --mode bundled

survive: .venv/.runtime ## Show a process instance that outlives its server
	@$(BIN)/gnomon survive

demo: .venv/.runtime ## Deploy examples/, work them off, show what happened
	@$(BIN)/gnomon demo

##@ Develop
.PHONY: test bench bench-zeebe golden generate lock format catalogue changelog wheel diagram editors viewer readme screenshots pictures
test: .venv/.dev $(VIEWERS) ## Run the tests
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal # Hundreds of servers start: compiled code is kept

bench: .venv/.bench $(FEELIN) ## Measure against peers and limits, in one run
	@$(BIN)/python -m tests.bench

bench-zeebe: .venv/.dev .venv/.zeebe ## Measure beside Zeebe 8.6, 15 minutes; needs Maven
	@$(BIN)/python -m tests.bench.beside_zeebe

golden: .venv/.dev ## Rewrite the golden files; review them as a diff
	@GNOMON_GOLDEN=rewrite $(BIN)/python -m pytest -q tests -m golden

generate: .venv/.dev ## Regenerate gen/ from proto/
	@$(BIN)/python proto/generate.py

lock: .venv/.dev ## Resolve the requirement files anew
	@.ci/lock

catalogue: .venv/.dev ## Bring the catalogues of translations up to date with the texts
	@$(BIN)/pybabel --quiet extract -F server/platform/languages/extraction.cfg -k marked -k translated -k translated_plural:1,2 \
		--no-location --sort-output --no-wrap -o .venv/texts.pot .
	@for file in server/platform/languages/catalogues/*.po; do \
		$(BIN)/pybabel --quiet update -i .venv/texts.pot -o $$file -l $$(basename $$file .po | tr - _) \
			--no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --no-wrap; done

format: .venv/.dev ## Format the code
	@$(BIN)/ruff format $(CHECKED)
	@$(BIN)/ruff check --fix-only --quiet $(CHECKED)
	@$(BIN)/buf format -w proto

screenshots: .venv/.dev $(VIEWERS) ## Take pictures of some 35 states of the pages in three looks (OUT=)
	@$(BIN)/python -m tests.browser.screenshots $(or $(OUT),screenshots)

pictures: .venv/.dev $(VIEWERS) ## Take the pictures of the README again, into docs/images/
	@$(BIN)/python -m tests.browser.screenshots

wheel: .venv/.dev $(VIEWERS) ## Build the wheel into dist/
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

diagram: edge/console/diagram/LICENSE ## Fetch the viewer of diagrams for the console from npm

editors: edge/console/editors/LICENSE ## Fetch the editors of models for the console from npm

viewer: edge/documentation/viewer/LICENSE ## Fetch the viewer of the OpenAPI document for /docs from npm

changelog: .venv/.dev ## Move the fragments of .changes/ into CHANGELOG.md (VERSION=)
	@$(BIN)/towncrier build --yes --version $(VERSION)

readme: ## Follow README.md in a fresh clone, block by block; needs the usual ports
	@.ci/readme

##@ Campaigns: processes die under load, everything is counted (ROUNDS=, SEED=)
.PHONY: crash cluster failover neighbour removal storm upgrade histories fuzz feel-reference peer requests
crash: .venv/.dev ## Kill engines, PostgreSQL, both and the program, 50 rounds
	@$(BIN)/python -m tests.campaigns crash $(or $(ROUNDS),50) $(SEED)

cluster: .venv/.dev ## Kill, pause and cut off the owner of partitions, 50 rounds
	@$(BIN)/python -m tests.campaigns cluster $(or $(ROUNDS),50) $(SEED)

failover: .venv/.bench ## Kill the leader of PostgreSQL under Patroni, 10 rounds; needs etcd
	@$(BIN)/python -m tests.campaigns failover $(or $(ROUNDS),10) $(SEED)

neighbour: .venv/.dev ## One tenant attacks, alone and in all ways at once, another completes jobs, 1 round
	@$(BIN)/python -m tests.campaigns neighbour $(or $(ROUNDS),1) $(SEED)

removal: .venv/.dev ## Remove tenants, clients and users and create them again while nodes and PostgreSQL die, 20 rounds
	@$(BIN)/python -m tests.campaigns removal $(or $(ROUNDS),20) $(SEED)

storm: .venv/.dev ## 64 clients send every command three times over broken connections, 10 rounds
	@$(BIN)/python -m tests.campaigns storm $(or $(ROUNDS),10) $(SEED)

upgrade: .venv/.dev ## Replace nodes of an earlier commit one by one under load, and back, 20 rounds (EARLIER=)
	@EARLIER=$(EARLIER) $(BIN)/python -m tests.campaigns upgrade $(or $(ROUNDS),20) $(SEED)

histories: .venv/.dev ## Play 20,000 random histories of processes in memory, 2,000 of them with kills on PostgreSQL (COUNT=, SEED=)
	@GNOMON_EXAMPLES=$(or $(COUNT),20000) $(BIN)/python -m pytest -n auto --dist worksteal -o timeout=0 -o faulthandler_timeout=0 \
		--hypothesis-show-statistics $(if $(SEED),--hypothesis-seed=$(SEED)) \
		-k "replaying or can_be_finished or a_kill_between" \
		tests/server/engine/test_properties.py tests/server/engine/test_killed_owners.py

fuzz: .venv/.dev .venv/.feelin ## Compare 20,000 FEEL expressions with feelin; needs node (COUNT=, SEED=)
	@$(BIN)/python -m tests.feelin $(or $(COUNT),20000) $(SEED)

feel-reference: .venv/.dev $(FEEL_SCALA) ## Compare 50,000 FEEL expressions with feel-scala; needs Maven (COUNT=, SEED=)
	@$(BIN)/python -m tests.feel_scala $(or $(COUNT),50000) $(SEED)

peer: .venv/.dev .venv/.zeebe ## Compare 2,000 random processes with Zeebe 8.6; needs Maven (COUNT=, SEED=)
	@$(BIN)/python -m tests.peer $(or $(COUNT),2000) $(SEED)

requests: .venv/.dev ## Send 1,000,000 random requests, half of them in bundled mode; none may fail (COUNT=, SEED=, MODE=)
	@$(BIN)/python -m tests.requests $(or $(COUNT),1000000) "$(SEED)" $(MODE)

##@ Check
.PHONY: check lint types layers contract verify spelling
check: lint types layers contract verify spelling test ## Everything that CI runs

lint: .venv/.dev ## ruff: format and rules
	@$(BIN)/ruff format --check --quiet $(CHECKED)
	@$(BIN)/ruff check --quiet $(CHECKED)

types: .venv/.dev ## mypy --strict; parameters and attributes in tests
	@$(BIN)/mypy

layers: .venv/.dev ## import-linter: who may import whom
	@PYTHONPATH=.:gen:client $(BIN)/lint-imports

contract: .venv/.dev ## buf: lint, format, breaking; OpenAPI against the released one
	@$(BIN)/python proto/generate.py --image .venv/image.binpb
	@$(BIN)/buf lint .venv/image.binpb
	@$(BIN)/buf format proto --diff --exit-code
	@$(BIN)/buf breaking .venv/image.binpb --against proto/released.binpb.zst
	@$(BIN)/python proto/generate.py --compare-openapi proto/released.openapi.json

verify: .venv/.dev ## gen/ is what proto/ says
	@$(BIN)/python proto/generate.py --check

spelling: .venv/.dev
	@$(BIN)/codespell $(SOURCES) tests examples proto/gnomon docs README.md

##@ Environment
.venv/.created:
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.runtime: .venv/.created requirements/runtime.txt requirements/build.txt pyproject.toml hatch_build.py
	@$(PIP) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

.venv/.dev: .venv/.runtime requirements/dev.txt
	@$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

.venv/.bench: .venv/.dev requirements/bench.txt
	@$(PIP) --require-hashes -r requirements/bench.txt
	@touch $@

.venv/.feelin: .venv/.created tests/feelin/package.json tests/feelin/package-lock.json
	@mkdir -p .venv/feelin
	@cp tests/feelin/package.json tests/feelin/package-lock.json .venv/feelin/
	@cd .venv/feelin && npm ci --silent --no-audit --no-fund
	@touch $@

# Node.js from PyPI, where npm is not installed. Without it the server runs, too.
.venv/.node: .venv/.created requirements/node.txt
	@if $(PIP) --require-hashes -r requirements/node.txt; then touch $@; \
	else echo "Node.js cannot be installed; the console has no diagrams and editors" >&2; fi

# Files of a package of npm by the lock file of a target. The licence is copied last: it stands for all of them. Without
# a registry the server runs, and its pages say what is missing.
# $(call fetch,TARGET,FOLDER,PACKAGE,FILES)
define installed
@mkdir -p .venv/$(1) $(2)
@cp requirements/$(1)/package.json requirements/$(1)/package-lock.json .venv/$(1)/
@cd .venv/$(1) && PATH="$$PATH:$(CURDIR)/$(BIN)" npm ci --silent --no-audit --no-fund --ignore-scripts || { \
	echo "npm cannot fetch $(3); repeat with: make $(1)" >&2; \
	$(if $(filter $(1),$(MAKECMDGOALS)),exit 1,exit 0); } ; \
cd $(CURDIR)/.venv/$(1)/node_modules/$(3) 2>/dev/null || exit 0;
endef

define fetch
$(installed) cp $(4) LICENSE $(CURDIR)/$(2)/
endef

edge/console/editors/LICENSE: $(wildcard requirements/editors/*) | .venv/.created $(NODE)
	$(call installed,editors,edge/console/editors,.) sh $(CURDIR)/requirements/editors/assemble.sh $(CURDIR)/$(@D)

edge/console/diagram/LICENSE: requirements/diagram/package.json requirements/diagram/package-lock.json | .venv/.created $(NODE)
	$(call fetch,diagram,edge/console/diagram,bpmn-js,dist/bpmn-navigated-viewer.production.min.js \
		dist/assets/diagram-js.css dist/assets/bpmn-js.css)

edge/documentation/viewer/LICENSE: requirements/viewer/package.json requirements/viewer/package-lock.json | .venv/.created $(NODE)
	$(call fetch,viewer,edge/documentation/viewer,swagger-ui-dist,swagger-ui-bundle.js swagger-ui.css NOTICE \
		swagger-ui-bundle.js.LICENSE.txt)

.venv/.feel-scala: .venv/.created requirements/java.txt
	@$(PIP) --require-hashes -r requirements/java.txt
	@for artifact in org.camunda.feel:feel-engine:1.21.0:jar:scala-shaded org.eclipse.jdt:ecj:3.43.0 \
		org.slf4j:slf4j-api:2.0.17 org.slf4j:slf4j-nop:2.0.17; do \
		mvn -q dependency:copy -Dartifact=$$artifact -DoutputDirectory=$(CURDIR)/.venv/feel-scala || exit 1; \
	done
	@touch $@

.venv/.zeebe: .venv/.created requirements/peer.txt
	@rm -rf .venv/zeebe && mkdir -p .venv/zeebe
	@$(PIP) --require-hashes --target .venv/zeebe -r requirements/peer.txt
	@for artifact in io.camunda:camunda-zeebe:8.6.0:tar.gz io.camunda:zeebe-gateway-protocol:8.6.0:jar; do \
		mvn -q dependency:copy -Dartifact=$$artifact -DoutputDirectory=$(CURDIR)/.venv/zeebe || exit 1; \
	done
	@cd .venv/zeebe && tar -xzf camunda-zeebe-8.6.0.tar.gz && rm camunda-zeebe-8.6.0.tar.gz
	@touch $@

.PHONY: clean help
clean: ## Remove what the targets made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

help: ## This text
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z][a-z_-]*:.*##/ {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
