# docker build -t fedatlas . && docker run --rm fedatlas
# docs/how-to/running.md says how to copy the tour's results and how to run a study. PIP_INDEX_URL and
# PIP_EXTRA_INDEX_URL, given with --build-arg, are pip's: an index of torch's builds for processors alone keeps gigabytes
# of CUDA packages out of the image.
FROM python:3.12-slim AS installed

ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ENV PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore MLFLOW_DISABLE_TELEMETRY=true

RUN useradd --create-home atlas && mkdir /fedatlas && chown atlas /fedatlas
WORKDIR /fedatlas
COPY --chown=atlas . .
RUN pip install -e .
USER atlas

FROM installed AS tour
RUN snakemake --cores all
CMD ["fedatlas", "show", "--claims"]
