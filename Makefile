# From a fresh Debian or Ubuntu with Python 3.11 or newer (with venv) and make:
#
#   make run              opens the window on the sample; without a display it does
#                         the same job offscreen and leaves its results in out/
#   make run ARGS="..."   runs the program with these arguments instead
#   make test             lint, types, layers, tests without and with a real window
#   make bench            measures; nothing is asserted
#   make zoo              loads, lists and runs some thirty public modules, which it
#                         fetches into a cache
#   make screenshots      takes the pictures of the README again
#   make lock             locks the dependencies after a change in pyproject.toml
#                         (UPGRADE=--upgrade takes the newest releases)

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= 2
PY := $(VENV)/bin/python
# Plain pip, which every machine has; it honours the machine's own pip settings.
PIP := $(PY) -m pip --disable-pip-version-check
PYTEST := QT_QPA_PLATFORM=offscreen $(PY) -m pytest
SAMPLE := resources/sample/digits --model resources/sample/classifier.py:Classifier \
	--input 'float32[1,8,8,1]'

.DELETE_ON_ERROR:
.PHONY: run test check-format check-types check-layers check-units check-window bench zoo lock screenshots clean

run: $(VENV)/.run
ifneq ($(strip $(ARGS)),)
	$(PY) main.py $(ARGS)
else ifneq ($(DISPLAY)$(WAYLAND_DISPLAY)$(filter Darwin,$(shell uname -s)),)
	$(PY) main.py $(SAMPLE)
else
	QT_QPA_PLATFORM=offscreen $(PY) main.py --tour out
endif

# One after the other even under make -j: cheap checks first, the window last.
test: $(VENV)/.test
	$(MAKE) --no-print-directory check-format
	$(MAKE) --no-print-directory check-types
	$(MAKE) --no-print-directory check-layers
	$(MAKE) --no-print-directory check-units
	$(MAKE) --no-print-directory check-window

check-format: $(VENV)/.test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

check-types: $(VENV)/.test
	$(PY) -m mypy

check-layers: $(VENV)/.test
	$(VENV)/bin/lint-imports

# A file's tests stay on one worker, so that they share their engines.
check-units: $(VENV)/.test
	$(PYTEST) -m "not e2e" -n $(WORKERS) --dist loadfile

# These start an X server of their own. pytest fails when it finds none of them.
check-window: $(VENV)/.test
	$(PYTEST) -m e2e

bench: $(VENV)/.test
	$(PY) -m benchmarks $(ARGS)

zoo: $(VENV)/.test
	$(PY) -m tools.zoo $(ARGS)

lock: $(VENV)/.test
	$(PY) -m tools.lock $(UPGRADE)

# The pictures of the README, from the running program.
screenshots: $(VENV)/.run
	$(PY) -m tools.screenshots

clean:
	rm -rf $(VENV) out build dist

# Without python3-venv, Debian's venv stops half-way and leaves a python without pip
# behind, which every later make would take for done. So ask first.
$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is too old or missing: Python 3.11 or newer is needed." >&2; \
	  echo "Name another one with: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "The venv module is missing. Install it with:" >&2; \
	  echo "    sudo apt-get install -y python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A stamp is written last, so that a broken installation is repeated, and is older
# than a changed requirements file, so that a new lock is installed.
$(VENV)/.run: requirements/run.txt tools/check_system.py | $(PY)
	$(PIP) install --quiet --require-hashes -r requirements/run.txt
	$(PY) tools/check_system.py $(PY)
	touch $@

$(VENV)/.test: requirements/test.txt tools/check_system.py $(VENV)/.run
	$(PIP) install --quiet --require-hashes -r requirements/test.txt
	$(PY) tools/check_system.py $(PY) --tests
	touch $@
