# `make` installs and runs the tour; `make test` installs and tests. PYTHON names the interpreter (3.11 or newer).
PYTHON ?= python3
CORES ?= all
SECONDS ?= 28800
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: tour test slow fuzz statements slurm gpu lint reference docs times notebook gallery verify ui clean

tour: .venv/installed
	snakemake --cores $(CORES) --logger fedatlas
	@echo "Commands  \`. .venv/bin/activate\` makes fedatlas and snakemake commands of this shell"

test: .venv/installed
	pytest -n 2 --dist worksteal

slow: .venv/installed
	pytest -m slow

# New inputs each time: one pass over the tests that draw their inputs, then hostile ones for SECONDS. With INPUTS, so
# many hostile ones for each target, the same each time. A hostile input that finds a mistake is kept in tests/fuzz/corpus.
fuzz: .venv/installed
	$(if $(INPUTS),,pytest -n 2 --dist worksteal -m "hypothesis and not slow" --hypothesis-profile new)
	python -m tests.fuzz $(if $(INPUTS),--inputs $(INPUTS) --seed 0,--seconds $(SECONDS))

# The search for counterexamples to the papers' numbered statements; see statements/README.md
statements: .venv/installed
	pytest -n 2 --dist worksteal statements

slurm: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[slurm]"
	tests/slurm/run.sh

# Ten minutes of a CUDA device: FedAvg and FedSpeed on ResNet-18, and a step of ten clients in one pass and one by one
gpu: .venv/installed
	snakemake fedspeed_start --cores 2 --logger fedatlas --config size=paper
	python benchmarks/gpu.py --architecture resnet18

lint: .venv/installed
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	mypy
	pytest -q -m "slow or not slow" tests/workflow/test_lint.py  # snakemake --lint

# docs/reference/options.md and the schema of experiment files, from the declarations in the code
reference: .venv/installed
	PYTHONPATH=docs python -m from_code.reference

# config/experiments/times.csv, which `fedatlas list experiments` shows: measured in the results of this folder, kept as
# measured before, or estimated
times: .venv/installed
	python -m fedatlas.workflow.estimates

# The site, in docs/_build; a warning is an error
docs: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[docs]"
	sphinx-build -W -n --keep-going --quiet -c docs -d docs/_build/doctrees . docs/_build/html
	@echo "Site:  $(CURDIR)/docs/_build/html/index.html"

# docs/how-to/front_door.ipynb, from docs/how-to/front_door.py
notebook: .venv/installed
	snakemake fedac_fig1 --cores $(CORES) --logger fedatlas --config size=smoke
	python -m tests.api.notebook

# docs/gallery.md and its pages, from the record
gallery: .venv/installed
	python -m fedatlas.workflow.gallery_page

# Cells of the record, drawn at random, the cheapest experiments first: computed again for two minutes and compared
verify: .venv/installed
	fedatlas record verify --all --minutes 2

ui: .venv/installed
	fedatlas ui

.venv/installed: pyproject.toml
	@.ci/install $(PYTHON)
	@touch $@

clean:
	rm -rf .venv .snakemake results
