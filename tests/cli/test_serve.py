"""`layover serve` as a process of its own: what it prints, who gets in, and how it stops."""

from __future__ import annotations

import re
import secrets
import shlex
import signal
import socket
import threading
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.cli.serve import warn_without_tls
from tests.cli.serving import ALL, EXAMPLE, LAYOVER, PATIENCE, WORKER, sent, serving
from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path


def test_the_first_start_makes_a_key_and_later_ones_do_not(folder: Path) -> None:
    with serving(folder, *ALL) as server:
        key = server.said(r"admin key, shown this once: (\S+)")
        assert "2 workflows: ask, slow" in server.printed
        status, started = server.ask("POST", "/api/v1/executions", {"workflow": "ask", "wait": "10s"}, key)
        assert (status, started["status"], started["response"]) == (202, "paused", {"message": "soon"})
        assert server.ask("GET", "/api/v1/executions")[0] == 401
        assert server.stop(signal.SIGINT) == 0
        assert "Stopped." in server.printed
    with serving(folder, *ALL) as server:
        point = started["pause_points"][0]["id"]
        assert server.ask("POST", f"/api/v1/approvals/{point}/approve", {}, key)[0] == 201
        assert server.ask("GET", "/api/v1/keys", key="lay_of-somebody-else")[0] == 401
        assert "shown this once" not in server.printed
        assert server.stop() == 0
        assert key not in server.printed


def test_a_workflow_in_python_is_served_with_its_functions(folder: Path) -> None:
    (folder / "double.py").write_text(
        "from layover import Workflow, node\n@node\ndef twice(number: int) -> int: return 2 * number\n"
        "flow = Workflow('double')\nflow.call('work', twice, input={'number': '${input.number}'})\n"
    )
    key = secrets.token_urlsafe(32)
    for words in (("double:flow", "flows/ask.yaml"), ("--workflows", "double.py", "--workflows", "flows/ask.yaml")):
        with serving(folder, *words, LAYOVER_ADMIN_KEY=key) as server:
            server.said("2 workflows: double, ask")
            body = {"workflow": "double", "input": {"number": 4}, "wait": "10s"}
            status, started = server.ask("POST", "/api/v1/executions", body, key)
            assert (status, started["output"]) == (200, 8)


def test_it_answers_to_its_own_names_only(folder: Path) -> None:
    public = ("--public-url", "https://flows.example.org/here")
    with serving(folder, *public, LAYOVER_HOSTS="api.example.org, *.example.net") as server:
        names = ("localhost", "127.0.0.1", "flows.example.org", "api.example.org", "a.example.net", "evil.example")
        found = [sent("GET", f"{server.url}/metrics", {"host": name})[0] for name in names]

    assert found == [200, 200, 200, 200, 200, 421]


@pytest.mark.parametrize(
    ("host", "public_url", "warns"),
    [
        ("0.0.0.0", "http://here:8080", True),  # noqa: S104 - it is warned of
        ("::", "http://here:8080", True),
        ("192.168.1.7", "http://flows.example.org", True),
        ("0.0.0.0", "https://flows.example.org", False),  # noqa: S104 - as above
        ("127.0.0.1", "http://127.0.0.1:8080", False),
        ("localhost", "http://localhost:8080", False),
    ],
)
def test_without_tls_it_warns_of_the_network(
    capsys: pytest.CaptureFixture[str], host: str, public_url: str, *, warns: bool
) -> None:
    warn_without_tls(host, public_url)

    assert ("without TLS" in capsys.readouterr().err) == warns


def test_a_key_that_is_given_is_the_administrators(folder: Path) -> None:
    with serving(folder, LAYOVER_ADMIN_KEY="a-key-that-nobody-knows") as server:
        assert server.ask("GET", "/api/v1/me", key="a-key-that-nobody-knows")[1]["user"] == "admin"
        assert "shown this once" not in server.printed
        assert "a-key-that-nobody-knows" not in server.printed


@pytest.mark.parametrize(
    ("words", "private", "status"),
    [((), "", "failed"), (("--http-private",), "", "completed"), ((), "true", "completed")],
    ids=["not asked for", "option", "environment"],
)
def test_http_nodes_reach_what_is_not_public_only_if_it_is_asked_for(
    folder: Path, words: tuple[str, ...], private: str, status: str
) -> None:
    (folder / "flows" / "fetch.yaml").write_text("name: fetch\nnodes: [{id: get, type: http, url: '${input.url}'}]\n")
    environment = {"LAYOVER_ADMIN_KEY": "a-key-that-nobody-knows", "LAYOVER_HTTP_PRIVATE": private or "false"}
    with serving(folder, *ALL, *words, program=LAYOVER, **environment) as server:
        asked = {"workflow": "fetch", "input": {"url": f"{server.url}/healthz"}, "wait": "30s"}
        ended = server.ask("POST", "/api/v1/executions", asked, "a-key-that-nobody-knows")[1]
        assert ended["status"] == status
        assert status == "completed" or "not public" in ended["error"]["message"]


def test_what_is_being_answered_is_answered_before_it_stops(folder: Path) -> None:
    with serving(folder, *ALL, LAYOVER_ADMIN_KEY="a-key-that-nobody-knows") as server:
        asked = {"workflow": "slow", "input": {"seconds": 0.5}, "wait": "60s"}
        answers: list[tuple[int, Any]] = []
        waiting = threading.Thread(
            target=lambda: answers.append(server.ask("POST", "/api/v1/executions", asked, "a-key-that-nobody-knows"))
        )
        waiting.start()
        while not server.ask("GET", "/api/v1/executions", key="a-key-that-nobody-knows")[1]["items"]:
            pass
        assert server.stop() == 0
        waiting.join(PATIENCE)

    ((status, execution),) = answers
    assert (status, execution["workflow"]) in {(200, "slow"), (202, "slow")}


def test_a_second_signal_leaves_what_is_running(folder: Path) -> None:
    with serving(folder, *ALL, LAYOVER_ADMIN_KEY="a-key-that-nobody-knows") as server:
        asked = {"workflow": "slow", "input": {"seconds": 600}}
        started = server.ask("POST", "/api/v1/executions", asked, "a-key-that-nobody-knows")[1]
        nodes = f"/api/v1/executions/{started['id']}/nodes"
        while server.ask("GET", nodes, key="a-key-that-nobody-knows")[1]["items"][0]["status"] != "running":
            pass
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE) == 0
        assert "Traceback" not in server.printed


def test_with_the_worker_off_a_server_answers_and_a_worker_drives(folder: Path) -> None:
    key = "a-key-that-nobody-knows"
    with serving(folder, *ALL, "--no-worker", LAYOVER_ADMIN_KEY=key) as server:
        server.said("it drives no executions")
        status, ready = server.ask("GET", "/readyz")
        assert (status, ready["status"]) == (200, "ready")
        start = {"workflow": "slow", "input": {"seconds": 0}}
        _, started = server.ask("POST", "/api/v1/executions", start, key)
        path = f"/api/v1/executions/{started['id']}"
        assert server.ask("GET", path, key=key)[1]["status"] in ("pending", "running")
        with serving(folder, "--nodes", "nodes.py", "--health", "0", program=WORKER) as worker:
            health = worker.said(r"health at +(http://127\.0\.0\.1:\d+)/healthz")
            assert server.ask("GET", f"{path}?wait=30s&until=end", key=key)[1]["status"] == "completed"
            assert sent("GET", f"{health}/healthz", {})[0] == 200
            status, answer = sent("GET", f"{health}/readyz", {})
            assert (status, msgspec.json.decode(answer)["status"]) == (200, "ready")
            status, text = sent("GET", f"{health}/metrics", {})
            assert status == 200
            assert b'layover_executions_closed_total{workflow="slow",status="completed",outcome="executed"} 1.0' in text
            assert sent("GET", f"{health}/api/v1/executions", {})[0] == 404
            assert sent("GET", f"{health}/metrics", {"host": "evil.example"})[0] == 421
            assert worker.stop() == 0
            worker.said("Stopped.")
        assert server.stop() == 0


def test_a_taken_health_port_ends_the_worker_before_anything_is_driven(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with serving(folder, "--nodes", "nodes.py", "--health", port, program=WORKER) as worker:
            assert worker.process.wait(PATIENCE) == 1
            worker.said(f"Cannot listen at 127.0.0.1, port {port}")
            worker.said("--health 9091")
    assert not (folder / "layover.db").exists()


def test_without_any_key_it_is_not_served_to_others(folder: Path) -> None:
    with serving(folder, "--host", "0.0.0.0") as server:  # noqa: S104 - it is refused
        assert server.process.wait(PATIENCE) == 2
        server.said("Without any key it is served on this machine only")
        server.said("LAYOVER_ADMIN_KEY")


@pytest.mark.parametrize(
    ("words", "environment", "code", "told"),
    [
        (("--workflows", "nowhere"), {}, 2, "there is no such folder or file"),
        (("--workflows", "flows"), {}, 2, r"slow\.yml:2:\d+: .*slowly"),
        (("--processes", "0"), {}, 2, "from 1 to 64"),
        ((), {"LAYOVER_ADMIN_KEY": "short"}, 2, "LAYOVER_ADMIN_KEY"),
        ((), {"LAYOVER_RATE_LIMIT": "many"}, 2, "LAYOVER_RATE_LIMIT"),
        ((), {"LAYOVER_JWT_SECRET": "short"}, 2, "LAYOVER_JWT_SECRET"),
        (
            ("--host", "192.0.2.1"),
            {"LAYOVER_ADMIN_KEY": "a-key-that-nobody-knows"},
            1,
            "Name an address of this machine",
        ),
        (("--db", "ftp://x"), {}, 2, "not the address of a database"),
    ],
)
def test_what_cannot_be_served_is_refused_without_a_traceback(
    folder: Path, words: tuple[str, ...], environment: dict[str, str], code: int, told: str
) -> None:
    with serving(folder, *words, program=LAYOVER, **environment) as server:
        assert server.process.wait(PATIENCE) == code
        server.said(told)
        assert "Traceback" not in server.printed


def test_a_taken_port_is_reported_with_what_to_do(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with serving(folder, "--port", str(taken.getsockname()[1])) as server:
            assert server.process.wait(PATIENCE) == 1
            server.said("Cannot listen at 127.0.0.1")
            server.said("--port 8081")


def test_the_example_waits_for_an_approval_and_its_commands_do_what_they_say(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    words = ("--port", port, "--folder", str(tmp_path / "run"))
    with serving(tmp_path, *words, program=EXAMPLE) as server:
        server.said("Ctrl-C stops it")
        commands = re.findall(r"^  (curl .+)$", server.printed, re.MULTILINE)
        list_, watch, approve, call, triggers = (shlex.split(line) for line in commands)
        who = dict([list_[list_.index("-H") + 1].split(": ", 1)])
        urls = [next(word for word in command if word.startswith("http")) for command in (list_, watch, approve)]
        status, listed = sent("GET", urls[0], who)
        assert (status, [one["workflow"] for one in msgspec.json.decode(listed)["items"]]) == (200, ["refund"])
        assert approve[approve.index("-X") + 1] == "POST"
        assert sent("POST", urls[2], who)[0] == 201
        status, watched = sent("GET", urls[1], who)
        assert status == 200
        assert watched.endswith(b'event: end\ndata: {"status":"completed"}\n\n')
        hook = next(word for word in call if word.startswith("http"))
        body, kind = call[call.index("-d") + 1], {"Content-Type": "application/json"}
        assert sent("POST", hook, kind, body.encode()) == (200, b'"Hello from you"')
        url = next(word for word in triggers if word.startswith("http"))
        listed = msgspec.json.decode(sent("GET", url, who)[1])["items"]
        assert [(one["name"], one["state"]) for one in listed] == [("called", "active"), ("ticking", "active")]
        assert server.stop(signal.SIGINT) == 0
    with serving(tmp_path, *words, program=EXAMPLE) as server:  # another refund waits
        server.said("Ctrl-C stops it")
        assert len(msgspec.json.decode(sent("GET", urls[0], who)[1])["items"]) == 1
        assert server.stop() == 0


def test_a_terminal_is_given_a_sign_in_link_and_a_log_is_not(folder: Path) -> None:
    with Terminal("serve", "--port", "0", folder=folder, columns=120) as terminal:
        terminal.until("open this link once, within 10 minutes:")
        link = terminal.until("Ctrl-C").split()[0]
        page = sent("GET", link, {})
        terminal.control_c()
        assert terminal.end() == 0
    with serving(folder) as server:
        server.said("Ctrl-C stops it")
        assert server.ask("GET", "/healthz")[0] == 200

    assert page[0] == 200
    assert "sign-in" not in server.printed
