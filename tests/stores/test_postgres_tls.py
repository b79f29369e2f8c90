"""A connection that others cannot read: the options of the driver, as they stand in an address."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from layover.errors import LayoverError
from layover.stores.postgres.address import read_address
from layover.stores.postgres.database import PostgresSchema
from layover.stores.postgres.migration_lock import own_connection
from tests.servers.binaries import DEBIAN, server_owner
from tests.servers.postgres import run
from tests.servers.server import PostgresServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPENSSL = shutil.which("openssl")

pytestmark = [
    pytest.mark.skipif(OPENSSL is None, reason="openssl is not there to make a certificate"),
    pytest.mark.skipif(not any(DEBIAN.glob("*/bin/initdb")), reason="only Debian's PostgreSQL is built with TLS"),
]


def _certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a certificate that signs itself, and its key."""
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    assert OPENSSL is not None
    subprocess.run(  # noqa: S603 - our own arguments
        [
            *(OPENSSL, "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer(which="debian") as started:
        yield started


@pytest.fixture(scope="module")
def certificate(server: PostgresServer) -> Path:
    """Have the server use a certificate that it signed itself."""
    made, key = _certificate(server.folder, "server")
    if (owner := server_owner()) is not None:
        os.chown(key, *owner)
    for name, value in (("ssl_cert_file", made), ("ssl_key_file", key), ("ssl", "on")):
        asyncio.run(run(server.address(), f"ALTER SYSTEM SET {name} = '{value}'"))
    server.restart()
    return made


async def _is_encrypted(address: str) -> bool:
    async with own_connection(read_address(address)) as connection:
        return bool(await connection.fetchval("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))


@pytest.mark.usefixtures("certificate")
async def test_a_connection_is_encrypted_if_the_address_requires_it(server: PostgresServer) -> None:
    assert await _is_encrypted(f"{server.address()}?sslmode=require")
    assert not await _is_encrypted(f"{server.address()}?sslmode=disable")


async def test_a_server_without_a_trusted_certificate_is_refused(server: PostgresServer, certificate: Path) -> None:
    another, _ = _certificate(certificate.parent, "another")
    for more in ("", f"&sslrootcert={another}"):
        with pytest.raises(LayoverError) as refused:
            await _is_encrypted(f"{server.address()}?sslmode=verify-full{more}")
        assert "certificate" in refused.value.message


async def test_a_server_with_a_trusted_certificate_is_used(server: PostgresServer, certificate: Path) -> None:
    address = f"{server.address()}?sslmode=verify-full&sslrootcert={certificate}"
    assert await _is_encrypted(address)
    db = PostgresSchema(read_address(address))
    assert await db.fetchval("server_version")
    await db.close()
