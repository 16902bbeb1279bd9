# Everything runs in the checkout's own .venv, which the first target that needs it makes.
PYTHON ?= python3
PYTEST_ARGS ?= -n logical

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PACKAGES := slopes_envs slopes_agents slopes_training slopes_benchmarks

.DEFAULT_GOAL := help
.PHONY: help quickstart test lint types bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

quickstart: $(INSTALLED) ## train for about five minutes, then measure the result against the baselines
	$(BIN)/python -m slopes_benchmarks.quickstart

test: $(INSTALLED) ## run the tests, on all cores (PYTEST_ARGS="-k bids", "-m 'not slow'" ...: on one)
	$(BIN)/pytest $(PYTEST_ARGS)

lint: $(INSTALLED) ## check style and format, and the types of the built wheel
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory types

# Types are checked on what a user gets: the wheel, installed into an environment of its own that borrows everything
# else from .venv through a .pth file. In the checkout mypy could not map agents/ to slopes_agents, and here a file or
# a py.typed that is missing from the wheel shows. mypy runs from that folder because it looks in the current one first.
WHEEL := build/wheel
types: $(INSTALLED) ## check the types of the built wheel only
	rm -rf build/lib build/bdist.* $(WHEEL)
	mkdir -p $(WHEEL)
	@$(BIN)/python -m build --wheel --no-isolation --outdir $(WHEEL) . >$(WHEEL)/log 2>&1 || { cat $(WHEEL)/log; exit 1; }
	$(BIN)/python -m venv --without-pip $(WHEEL)/venv
	purelib='import sysconfig; print(sysconfig.get_path("purelib"))'; \
	borrowed="$$($(BIN)/python -c "$$purelib")"; site="$$($(WHEEL)/venv/bin/python -c "$$purelib")"; \
	$(BIN)/python -m pip install --quiet --no-deps --target "$$site" $(WHEEL)/*.whl && \
	printf '%s\n' "$$borrowed" >"$$site/borrowed.pth"
	cd $(WHEEL) && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache \
		--python-executable venv/bin/python $(addprefix -p ,$(PACKAGES))

bench: $(INSTALLED) ## measure the speed of the core and its views
	$(BIN)/python -m slopes_benchmarks.throughput

clean: ## remove .venv and whatever was built or cached (runs/ stays)
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "slopes-envs needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] + "; name another: make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@
