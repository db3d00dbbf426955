# Two stages: the first installs what the lock names, by hash; the second has no pip, no lock and no
# build tool, and runs as nobody in particular. It writes to /data and /tmp alone, so its root may be
# read-only. Name the base by the digest that your registry gives:
# `--build-arg PYTHON=3.13-slim-bookworm@sha256:…`.
ARG PYTHON=3.13-slim-bookworm

FROM python:${PYTHON} AS build
WORKDIR /build
RUN python -m venv --without-pip /app
COPY requirements.txt ./
RUN python -m pip --python /app/bin/python install --no-cache-dir --no-compile \
        --only-binary :all: --require-hashes -r requirements.txt
COPY service ./service
# The package is copied, not built, so nothing is fetched that the lock does not name.
RUN cp -r service "$(/app/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
    && printf '%s\n' '#!/app/bin/python' 'import sys' 'from service.cli import main' 'sys.exit(main())' >/app/bin/twinsift \
    && chmod 0755 /app/bin/twinsift \
    && /app/bin/python -m compileall -q /app/lib

FROM python:${PYTHON}
LABEL org.opencontainers.image.title=twinsift \
      org.opencontainers.image.description="Tells an ingestion worker whether a text is new, or a duplicate"
RUN python -m pip uninstall --yes --root-user-action ignore pip \
    && groupadd --gid 10001 twinsift \
    && useradd --uid 10001 --gid twinsift --no-create-home --no-log-init --shell /usr/sbin/nologin twinsift \
    && install -d -o twinsift -g twinsift -m 0700 /data
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    TWINSIFT_BIND=0.0.0.0:8000 \
    TWINSIFT_DATA_DIR=/data
USER 10001:10001
WORKDIR /
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=2); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["twinsift"]
CMD ["serve"]
