"""Where secrets come from: the environment, a file, a directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from layover.ports.secrets import Secret, Secrets
from layover.secret_providers import built_in_providers
from layover.secret_providers.environment import EnvironmentSecrets
from layover.secret_providers.files import SecretsDirectory, SecretsFile, UnusableSecrets

if TYPE_CHECKING:
    from pathlib import Path


def written(path: Path, content: str | bytes, mode: int = 0o600) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return str(path)


async def test_the_environment_is_read_as_it_is_at_that_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = EnvironmentSecrets()
    assert await secrets.get("SHOP_KEY") is None
    monkeypatch.setenv("LAYOVER_SECRET_SHOP_KEY", "correct-horse")
    assert await secrets.get("SHOP_KEY") == Secret("correct-horse")


async def test_a_file_has_a_secret_on_each_line(tmp_path: Path) -> None:
    path = written(tmp_path / "secrets", "# of the shop\n\nKEY=a=b # c\r\nOTHER= two words \nLAST=correct-horse")
    secrets = SecretsFile(path)
    assert await secrets.get("KEY") == Secret("a=b # c")
    assert await secrets.get("OTHER") == Secret(" two words ")
    assert await secrets.get("LAST") == Secret("correct-horse")
    assert await secrets.get("NONE") is None
    written(tmp_path / "secrets", "KEY=another-one")
    assert await secrets.get("KEY") == Secret("another-one")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602, 0o610, 0o777])
async def test_a_file_that_others_may_touch_is_not_used(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path / "secrets", "KEY=correct-horse\n", mode)
    with pytest.raises(UnusableSecrets, match=r"may be read by others .*chmod 600"):
        await SecretsFile(path).get("KEY")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("KEY\n", "line 1 of `.*` is not `NAME=value`"),
        ("A=1\nkey=value\n", "line 2 of"),
        ("export KEY=correct-horse\n", "line 1 of"),
        ("A=1\nA=2\n", "line 2 of `.*` repeats `A`"),
        (b"A=\xff\n", "is not UTF-8"),
        (b"A=" + b"x" * 1_000_000, "has more than 1,000,000 bytes"),
    ],
)
async def test_a_file_that_cannot_be_read_says_where_and_never_what(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(UnusableSecrets, match=message) as raised:
        await SecretsFile(written(tmp_path / "secrets", content)).get("A")
    assert "correct-horse" not in str(raised.value)


async def test_a_missing_file_or_a_path_of_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableSecrets, match="does not exist"):
        await SecretsFile(str(tmp_path / "none")).get("A")
    with pytest.raises(UnusableSecrets, match="is not a file"):
        await SecretsFile(str(tmp_path)).get("A")
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(UnusableSecrets, match="is not a file"):
        await SecretsFile(str(tmp_path / "pipe")).get("A")


async def test_a_directory_has_a_file_for_each_secret(tmp_path: Path) -> None:
    written(tmp_path / "KEY", "correct\nhorse\n", 0o444)
    written(tmp_path / "WINDOWS", "correct-horse\r\n")
    secrets = SecretsDirectory(str(tmp_path))
    assert await secrets.get("KEY") == Secret("correct\nhorse")
    assert await secrets.get("WINDOWS") == Secret("correct-horse")
    assert await secrets.get("NONE") is None
    (tmp_path / "FOLDER").mkdir()
    written(tmp_path / "LARGE", "x" * 200_000)
    for name, message in (("FOLDER", "is not a file"), ("LARGE", "has more than")):
        with pytest.raises(UnusableSecrets, match=message):
            await secrets.get(name)


async def test_a_link_in_a_directory_is_followed_as_kubernetes_makes_them(tmp_path: Path) -> None:
    (tmp_path / "..data").mkdir()
    written(tmp_path / "..data" / "KEY", "correct-horse")
    (tmp_path / "KEY").symlink_to(tmp_path / "..data" / "KEY")
    assert await SecretsDirectory(str(tmp_path)).get("KEY") == Secret("correct-horse")


def test_providers_are_asked_in_turn() -> None:
    assert [type(one) for one in built_in_providers(None, None)] == [EnvironmentSecrets]
    found = built_in_providers("file", "directory")
    assert [type(one) for one in found] == [EnvironmentSecrets, SecretsFile, SecretsDirectory]
    assert all(isinstance(one, Secrets) for one in found)


def test_a_secret_does_not_show_its_value() -> None:
    secret = Secret("correct-horse", "7")
    assert "horse" not in f"{secret!r}{secret!s}{[secret]}{secret}"
