"""The plugin in a pytest run of its own: found by itself, cheap for those who do not use it, plain in what it says."""

from __future__ import annotations

import textwrap

import pytest

pytest_plugins = ["pytester"]

FLOW = """
FLOW = '''
name: greet
nodes:
  - {id: say, type: greeting, next: rest}
  - {id: rest, type: delay, duration: 2d, next: done}
  - {id: done, type: end, output: "${nodes.say}"}
'''
"""

USING = """
import pytest
from layover.testing import CommitPoint, Layover, survives_crashes
"""

PASSING = """
async def test_it(layover: Layover):
    layover.fake("greeting", returns="Hello")
    execution = await layover.start(FLOW)
    await layover.skip("2d")
    assert execution.output == "Hello"
"""


AUTO = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", "-W", "error")
STRICT = ("-o", "asyncio_mode=strict", "-o", "asyncio_default_fixture_loop_scope=function", "-W", "error")
ALONE = ("-p", "no:asyncio")


def run(pytester: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    """Run a test file as a user does."""
    pytester.makepyfile(USING + FLOW + textwrap.dedent(test))
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *(options or ALONE))


def test_the_fixture_is_there_without_another_plugin(pytester: pytest.Pytester) -> None:
    run(pytester, PASSING, *ALONE).assert_outcomes(passed=1)


def test_it_works_with_pytest_asyncio_in_auto_mode(pytester: pytest.Pytester) -> None:
    run(pytester, PASSING, *AUTO).assert_outcomes(passed=1)


def test_it_works_with_pytest_asyncio_in_strict_mode(pytester: pytest.Pytester) -> None:
    both = PASSING + "\n@pytest.mark.asyncio\n" + PASSING.replace("test_it", "test_marked").lstrip()
    run(pytester, both, *STRICT).assert_outcomes(passed=2)


def test_the_event_loop_is_the_one_of_the_fixtures_of_the_test(pytester: pytest.Pytester) -> None:
    test = """
    import asyncio

    @pytest.fixture
    async def answers():
        queue = asyncio.Queue()
        asyncio.get_running_loop().call_soon(queue.put_nowait, "Hello")
        return queue

    async def test_it(layover: Layover, answers):
        layover.fake("greeting", side_effect=answers.get)
        execution = await layover.start(FLOW)
        assert await execution.result() == "Hello"
    """
    run(pytester, test, *AUTO).assert_outcomes(passed=1)


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_the_database_can_be_chosen(pytester: pytest.Pytester, store: str) -> None:
    test = """
    async def test_it(layover: Layover, tmp_path):
        await layover.signal("hello")
        kinds = {"memory": [], "sqlite": ["layover.db"]}
        assert [one.name for one in tmp_path.glob("*.db")] == kinds["STORE"]
    """
    run(pytester, test.replace("STORE", store), *ALONE, f"--layover-store={store}").assert_outcomes(passed=1)


def test_every_test_has_a_database_of_its_own(pytester: pytest.Pytester) -> None:
    test = """
    @pytest.mark.parametrize("n", [1, 2])
    async def test_it(layover: Layover, n):
        layover.fake("greeting")
        await layover.start(FLOW)
        assert sum((await layover.counts()).values()) == 1
    """
    run(pytester, test, *ALONE, "--layover-store=sqlite").assert_outcomes(passed=2)


def test_methods_and_other_fixtures_are_fine(pytester: pytest.Pytester) -> None:
    test = """
    class TestGreeting:
        async def test_it(self, layover: Layover, tmp_path):
            file = tmp_path / "greet.yaml"
            file.write_text(FLOW)
            layover.fake("greeting")
            assert (await layover.start(file)).status == "waiting"

        @survives_crashes
        async def test_more(self, tmp_path, layover: Layover):
            assert tmp_path.is_dir()
            layover.fake("greeting")
            await layover.run(FLOW)
    """
    for options in (ALONE, AUTO):
        run(pytester, test, *options).assert_outcomes(passed=2)


def test_a_plain_function_is_refused_with_the_advice_to_be_async(pytester: pytest.Pytester) -> None:
    result = run(pytester, "def test_it(layover): pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*The fixture `layover` is awaited: make `test_it` an `async def`.*"])


def test_a_node_type_without_a_function_fails_with_a_sentence(pytester: pytest.Pytester) -> None:
    result = run(pytester, "async def test_it(layover): await layover.start(FLOW)")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *NobodyPlays: The workflow `greet` calls `greeting`, for which there is neither*"])


def test_a_crash_that_never_came_fails_the_test(pytester: pytest.Pytester) -> None:
    test = """
    async def test_it(layover: Layover):
        layover.fake("greeting")
        layover.crash_at(CommitPoint.SIGNAL_KEPT)
        await layover.start(FLOW)

    async def test_failing(layover: Layover):
        layover.crash_at(CommitPoint.SIGNAL_KEPT)
        assert False, "the test's own failure comes first"
    """
    result = run(pytester, test)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["E *CrashNeverCame: The crash at `signal_kept` (nth=1) never came*", "E *the test's own failure comes first*"]
    )


def test_one_crash_can_be_tried_alone(pytester: pytest.Pytester) -> None:
    test = """
    @survives_crashes
    async def test_it(layover: Layover):
        work = layover.fake("greeting")
        await layover.start(FLOW)
        print("crashes:", layover.crashes, "calls:", len(work.calls))
        assert len(work.calls) == 1
    """
    result = run(pytester, test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *DidNotSurvive: With a crash at `append_decided:2` the test fails*"])
    assert "assert len(work.calls) == 1" in result.stdout.str()
    result = run(pytester, test, *ALONE, "--layover-crash=call_returned:1", "-s")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*crashes: 0 calls: 1", "*crashes: 1 calls: 2"])
    result = run(pytester, test, *ALONE, "--layover-crash=append_decided:1")
    result.assert_outcomes(passed=1)
    result = run(pytester, test, *ALONE, "--layover-crash=nowhere")
    result.stdout.fnmatch_lines(["*--layover-crash: `nowhere` is not a crash; write one like `append_told:2`*"])


def test_a_run_that_does_not_use_it_loads_nothing_of_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it():
            assert "_layover_pytest" in sys.modules
            assert [name for name in sys.modules if name.partition(".")[0] in ("layover", "msgspec", "apsw")] == []
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_its_options_are_explained(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*ALONE, "--help")
    result.stdout.fnmatch_lines(["tests of workflows:", "*--layover-store=*", "*--layover-crash=POINT:N*"])
    result = pytester.runpytest_inprocess(*ALONE, "--fixtures")
    result.stdout.fnmatch_lines(["layover -- *", "*an engine for this test, on time that stands still*"])
