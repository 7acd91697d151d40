"""Object storage by address: which filesystem reads it, with how much patience, and its errors in words for people.

Endpoint, region and credentials come from the environment, never from the address, so that they stand in no command
line, no stored configuration and no log:

    s3://bucket/prefix           AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and the rest of the AWS chain
    gs://bucket/prefix           GOOGLE_APPLICATION_CREDENTIALS and the rest of Google's chain; STORAGE_EMULATOR_HOST
    abfs://container/prefix      AZURE_STORAGE_ACCOUNT (or abfs://container@account.dfs.core.windows.net/prefix),
                                 AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, else Azure's default chain;
                                 AZURE_STORAGE_BLOB_ENDPOINT

A request that fails is tried again by the filesystem's own client, with growing pauses: a server may be gone for a
minute. One that is gone for good ends in one `StorageError`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from udfs.errors import StorageError, UserError, without_secrets

SCHEMES: Final = ("s3", "gs", "abfs", "abfss", "file")
ATTEMPTS_VARIABLE: Final = "ASKABLE_STORAGE_ATTEMPTS"
ATTEMPTS: Final = 10
"""Tries of one request before it fails: measured with nobody listening, 70 to 100 s in all."""
FIRST_ATTEMPTS: Final = 5
"""Tries of the first look, before a job begins (about 10 s): a typing mistake should not take a minute to tell."""
CONNECT_SECONDS: Final = 5.0
SILENCE_SECONDS: Final = 15.0
"""A server that sends nothing for so long is asked again."""
GCS_SECONDS: Final = 90
CREDENTIAL_VARIABLES: Final = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_AZURE_HOST: Final = re.compile(r"^(?P<account>[a-z0-9]+)\.(?:dfs|blob)\.core\.windows\.net$")


def is_remote(address: str) -> bool:
    """Whether it is an address rather than a path on this machine."""
    return "://" in address and not address.startswith("file://")


def open_address(address: str, key: str, attempts: int | None = None) -> tuple[fs.FileSystem, str]:
    """The filesystem of an address and the path as that filesystem takes it. Nothing is asked of a server.

    Args:
        key: where the user gave the address, for messages: storage.root, path.
        attempts: tries of one request; None: as many as a run has patience for.

    Raises:
        UserError: an unknown scheme, no bucket, or credentials or options inside the address.
    """
    scheme, _, rest = address.partition("://")
    if scheme not in SCHEMES:
        known = ", ".join(f"{name}://" for name in SCHEMES)
        raise UserError(f"{key}={without_secrets(address)!r} has no known scheme; a folder, or one of {known}")
    _refuse_secrets(address, key)
    if scheme == "file":
        if not rest.startswith("/"):
            raise UserError(f"{key}={address!r}: after file:// comes an absolute path: file:///folder")
        return fs.LocalFileSystem(), os.path.abspath(rest)
    bucket, _, path = rest.partition("/")
    container, _, host = bucket.partition("@")
    if not container or (host and not scheme.startswith("abfs")):
        raise UserError(f"{key}={address!r} names no bucket: give {scheme}://bucket/prefix")
    try:
        filesystem = _filesystem(scheme, container, host, key, attempts or _attempts())
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"{key}={address!r} cannot be opened: {without_secrets(str(error))}") from None
    return filesystem, f"{container}/{path}".rstrip("/")


def _refuse_secrets(address: str, key: str) -> None:
    rest = address.partition("://")[2]
    place, _, query = rest.partition("?")
    who, at, _ = place.rpartition("@")
    if at and (":" in who or address.startswith("s3://")):
        scheme = address.partition("://")[0]
        raise UserError(
            f"{key}={scheme}://…@… holds credentials; they belong into the environment "
            "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_KEY)"
        )
    if query and address.startswith(("s3://", "gs://", "abfs")):
        raise UserError(
            f"{key}={address.partition('?')[0]}?… has options after '?'; endpoint, region and credentials come from "
            "the environment (AWS_ENDPOINT_URL, AWS_REGION, …)"
        )


def _attempts() -> int:
    given = os.environ.get(ATTEMPTS_VARIABLE, str(ATTEMPTS))
    if not given.isdigit() or int(given) < 1:
        raise UserError(f"{ATTEMPTS_VARIABLE}={given!r} is not allowed: a whole number, at least 1")
    return int(given)


def _filesystem(scheme: str, container: str, host: str, key: str, attempts: int) -> fs.FileSystem:
    if scheme == "s3":
        return _s3(container, attempts)
    if scheme == "gs":
        return _gcs()
    return _azure(host, key)


def _s3(bucket: str, attempts: int) -> fs.FileSystem:
    endpoint = s3_endpoint()
    options: dict[str, Any] = {}
    if endpoint:
        options = {"endpoint_override": urlsplit(endpoint).netloc, "scheme": urlsplit(endpoint).scheme}
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        region = "us-east-1" if endpoint else fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(
        region=region,
        connect_timeout=CONNECT_SECONDS,
        request_timeout=SILENCE_SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=attempts),
        background_writes=True,
        allow_delayed_open=True,  # a small file is one request instead of three
        allow_bucket_creation=False,  # a mistyped name must not make a bucket
        **options,
    )


def s3_endpoint() -> str | None:
    """The S3 endpoint that the environment names; None for AWS itself.

    Raises:
        UserError: it is no address, or holds credentials.
    """
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        given = os.environ.get(name)
        if given:
            parts = urlsplit(given)
            if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
                raise UserError(f"{name} must be an address such as https://s3.example.com:9000, without credentials")
            return given
    return None


def _gcs() -> fs.FileSystem:
    emulator = os.environ.get("STORAGE_EMULATOR_HOST")
    patience = timedelta(seconds=GCS_SECONDS)
    if not emulator:
        return fs.GcsFileSystem(retry_time_limit=patience)
    parts = urlsplit(emulator if "://" in emulator else f"http://{emulator}")
    return fs.GcsFileSystem(
        anonymous=True, scheme=parts.scheme, endpoint_override=parts.netloc, retry_time_limit=patience
    )


def _azure(host: str, key: str) -> fs.FileSystem:
    found = _AZURE_HOST.match(host)
    if host and not found:
        raise UserError(f"{key}: {host!r} is no storage account; abfs://container@account.dfs.core.windows.net/prefix")
    account = found["account"] if found else os.environ.get("AZURE_STORAGE_ACCOUNT")
    if not account:
        raise UserError(
            f"{key}: which storage account? Set AZURE_STORAGE_ACCOUNT, or give "
            "abfs://container@account.dfs.core.windows.net/prefix"
        )
    options: dict[str, Any] = {}
    if os.environ.get("AZURE_STORAGE_KEY"):
        options["account_key"] = os.environ["AZURE_STORAGE_KEY"]
    elif os.environ.get("AZURE_STORAGE_SAS_TOKEN"):
        options["sas_token"] = os.environ["AZURE_STORAGE_SAS_TOKEN"]
    endpoint = os.environ.get("AZURE_STORAGE_BLOB_ENDPOINT")
    if endpoint:
        parts = urlsplit(endpoint)
        options |= {"blob_storage_authority": parts.netloc, "blob_storage_scheme": parts.scheme}
        options |= {"dfs_storage_authority": parts.netloc, "dfs_storage_scheme": parts.scheme}
    return fs.AzureFileSystem(account, **options)


class _Kind(NamedTuple):
    """What a kind of storage is called, and which variables say who one is and where it is."""

    service: str
    credentials: str
    location: str


_KINDS: Final = {
    "s3": _Kind("AWS S3", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"),
    "gs": _Kind("Google Cloud Storage", "GOOGLE_APPLICATION_CREDENTIALS", "STORAGE_EMULATOR_HOST"),
    "abfs": _Kind("Azure storage", "AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_BLOB_ENDPOINT"),
}


def _kind(address: str) -> _Kind:
    return _KINDS[address.partition("://")[0].replace("abfss", "abfs")]


@contextmanager
def explained(address: str) -> Iterator[None]:
    """What a filesystem raises in this block, as a `StorageError` with one clear sentence; local errors as they are.

    Args:
        address: what is read or written, in the user's words.
    """
    try:
        yield
    except (StorageError, FileNotFoundError):
        raise
    except OSError as error:
        if not is_remote(address):
            raise
        raise StorageError(explanation(address, str(error))) from None  # the cause's text may be a page long


def explanation(address: str, said: str) -> str:
    """What `said`, a filesystem's error text, means for somebody who gave `address`."""
    text = without_secrets(" ".join(said.split()))
    bucket = address.partition("://")[2].partition("/")[0]
    known = _kind(address)
    names = {"bucket": bucket, "endpoint": _endpoint(address), "detail": _detail(text)}
    for pattern, words in _MEANINGS.items():
        if re.search(pattern, text):
            return f"{address}: " + words.format(**names, credentials=known.credentials, location=known.location)
    if re.search(r"ACCESS_DENIED|Access Denied|AccessDenied|Forbidden|PERMISSION_DENIED", text):
        absent = address.startswith("s3://") and not _has_credentials(os.environ)
        return f"{address}: " + (_NO_CREDENTIALS if absent else _DENIED.format(**names))
    return f"{address}: object storage failed: {text}"


_MEANINGS: Final = {
    r"INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|"
    r"EXPIRED_TOKEN|INVALID_CLIENT_TOKEN|UNAUTHENTICATED|AuthenticationFailed|AuthorizationFailure": (
        "the server refuses the credentials of the environment ({detail}); mend {credentials}, or what stands in "
        "their place"
    ),
    r"NO_SUCH_BUCKET|NoSuchBucket|bucket does not exist|ContainerNotFound": (
        "there is no bucket {bucket!r} at {endpoint}; make it, or mend the address"
    ),
    r"InvalidBucketName": "{bucket!r} is no allowed name of a bucket; mend the address",
    r"PermanentRedirect|HTTP status 301": "bucket {bucket!r} lies in another region; set AWS_REGION",
    r"curlCode: (?:6|7|28|35|52|55|56|60)\b|NETWORK_CONNECTION|Could ?n[o']t (?:connect|resolve)|"
    r"Fail to get a new connection": (
        "{endpoint} cannot be reached ({detail}); is the address right ({location}), and does the server run?"
    ),
    r"HTTP status 5\d\d|SLOW_DOWN|SERVICE_UNAVAILABLE|INTERNAL_FAILURE": (
        "{endpoint} goes on failing ({detail}); start the same command again when it is well"
    ),
}
_DENIED: Final = "access denied: the credentials are known, but may not do this ({detail})"
_NO_CREDENTIALS: Final = (
    "access denied, and no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or "
    "run under a service account that may use the bucket"
)


def _has_credentials(environment: Mapping[str, str]) -> bool:
    if any(environment.get(name) for name in CREDENTIAL_VARIABLES):
        return True
    file = environment.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials"
    return Path(file).expanduser().is_file()


def _endpoint(address: str) -> str:
    given = s3_endpoint() if address.startswith("s3://") else None
    return given or _kind(address).service


def _detail(text: str) -> str:
    """The telling part of an error text: the client's own words for it, without addresses and request ids."""
    found = re.search(r"Details: (?P<words>.+)$", text) or re.search(
        r"AWS Error (?P<words>\w+.*?)(?: \(Request ID|$)", text
    )
    words = found["words"] if found else text
    return words if len(words) <= 200 else words[:200] + " …"


def check_reachable(address: str, key: str) -> None:
    """Look whether the bucket of an address is there and may be listed, with little patience; local paths pass.

    Raises:
        UserError: no bucket, bad or absent credentials, or nobody answers: each in its own words.
    """
    if not is_remote(address):
        return
    filesystem, base = open_address(address, key, min(FIRST_ATTEMPTS, _attempts()))
    bucket = base.partition("/")[0]
    try:
        with explained(address):
            selector = fs.FileSelector(base, recursive=False, allow_not_found=True)
            filesystem.get_file_info(selector)  # first: an error of a list has a text, one of a look at a bucket none
            if filesystem.get_file_info(bucket).type == fs.FileType.NotFound:
                where = _endpoint(address)
                raise StorageError(f"{address}: there is no bucket {bucket!r} at {where}; make it, or mend the address")
    except StorageError as error:
        raise UserError(f"{key}={error}") from None
