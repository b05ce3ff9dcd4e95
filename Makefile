# Everything happens in .venv; nothing outside this folder is changed but, where it is allowed, GHDL's installation.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= 2
SEED ?= 0
MINUTES ?= 60
ONLY ?=
ROOMS ?=
FIRST ?=
BUDGET ?=
ROWS ?= 5

.PHONY: block demo demo-full ghdl test test-full test-board board-demo bitstream bench mutants mutants-sample fuzz trials lint docs clean

.venv/base: setup.py pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/dev: .venv/base
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check -e '.[hdl,train,dev]'
	touch $@

.venv/full: .venv/dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[full]'
	touch $@

demo: .venv/base  ## the first rows of AlexNet conv2 on a real photograph, and the traffic table
	@echo "Runs a real photograph through AlexNet up to conv2, the first $(ROWS) rows of conv2 through all of its"
	@echo "hardware in MyHDL, compares every bit and counts every word four ways; then the traffic of all"
	@echo "layers. About half a minute of one core, more on a busy machine (make demo-full: all 27 rows)."
	$(BIN)/merp simulate alexnet --layer conv2 --rows $(ROWS) -o build/demo
	$(BIN)/merp traffic alexnet

demo-full: .venv/base  ## the whole of AlexNet conv2 on a real photograph, and the traffic table
	@echo "As make demo, with all 27 rows of conv2: 321,180 cycles, more than twice as many."
	$(BIN)/merp simulate alexnet --layer conv2 -o build/demo
	$(BIN)/merp traffic alexnet

ghdl:
	@command -v ghdl >/dev/null || sh tools/install_ghdl.sh

test: .venv/dev ghdl  ## all tests, on every engine that is there
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile -m 'not full and not board'

test-full: .venv/full ghdl  ## the long runs, which make test leaves out (well over an hour)
	$(BIN)/python -m pytest -q -n $(JOBS) -m 'full and not board'

test-board: .venv/full ghdl  ## designs placed and routed, firmware, a LiteX system that trains: hours
	$(BIN)/python -m pytest -q -m board

.venv/litex: .venv/base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[litex]'
	touch $@

board-demo: .venv/litex  ## a LiteX system with VexRiscv trains 64 digits in simulation, as the golden model does
	$(BIN)/merp system digits-small --board ulx3s-85f --simulate -o build/board-demo

bitstream: .venv/litex  ## the same system as a bitstream for a ULX3S, half an hour
	$(BIN)/merp system digits-small --board ulx3s-85f --build -o build/bitstream

block: .venv/dev  ## the files of a new block from templates: ROOM=streams STEM=word_sum
	@$(BIN)/python tests/block/new_block.py "$$ROOM" "$$STEM"

bench: .venv/dev  ## how fast this machine computes and simulates
	$(BIN)/python tests/speed/run.py

mutants: .venv/dev ghdl  ## plant faults in the hardware and see the tests fail
	$(BIN)/python tests/mutants/run.py --jobs $(JOBS)

mutants-sample: .venv/dev ghdl  ## plant faults that are drawn at random: SEED, MINUTES (at most 60), JOBS, ONLY=reset, ROOMS=cnn_merp/pipeline,axi, FIRST=1000, BUDGET
	$(BIN)/python tests/mutants/sample.py --seed $(SEED) --minutes $(MINUTES) --jobs $(JOBS) $(if $(ONLY),--only $(ONLY)) $(if $(ROOMS),--rooms $(ROOMS)) $(if $(FIRST),--first $(FIRST)) $(if $(BUDGET),--budget $(BUDGET))

fuzz: .venv/dev  ## 100,000 hostile inputs on the command line (make test runs 500)
	$(BIN)/python tests/fuzz/run.py --cases 100000 --seed 1 --jobs $(JOBS)

trials: .venv/dev  ## kill each writing verb at 200 moments, run 50 pairs at once, and see what is left: SEED, JOBS
	$(BIN)/python tests/trials/run.py --seed $(SEED) --jobs $(JOBS)

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.venv/docs: .venv/base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

docs: .venv/docs  ## the documentation site, with the report of AlexNet inside, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf build .pytest_cache .mypy_cache .ruff_cache
