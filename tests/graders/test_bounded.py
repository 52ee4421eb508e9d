import os
import runpy
import signal
import time
from pathlib import Path

import pytest

import skill_assay
from skill_assay.graders.bounded import TooLong, WorkerDied, bounded


def test_it_runs_elsewhere_and_gives_back_what_it_found(portal):
    assert portal.call(bounded, sorted, [3, 1, 2]) == [1, 2, 3]
    assert portal.call(bounded, os.getpid) != os.getpid()


def test_what_is_raised_there_is_raised_here(portal):
    with pytest.raises(ZeroDivisionError):
        portal.call(bounded, divmod, 1, 0)


def test_what_takes_too_long_is_ended_and_the_next_is_served(portal):
    async def wait():
        await bounded(time.sleep, 60, seconds=0.3)

    with pytest.raises(TooLong, match=r"more than 0\.3 seconds"):
        portal.call(wait)
    assert portal.call(bounded, len, "abc") == 3


def test_a_worker_that_dies_is_told_and_the_next_is_served(portal):
    with pytest.raises(WorkerDied, match="ended, perhaps for want of memory"):
        portal.call(bounded, os._exit, 9)
    assert portal.call(bounded, len, "abc") == 3


def test_a_worker_does_not_start_the_command_again():
    main = Path(skill_assay.__file__).with_name("__main__.py")
    assert "main" in runpy.run_path(str(main), run_name="__mp_main__")


def test_ctrl_c_leaves_a_waiting_worker_of_use(portal):
    worker = portal.call(bounded, os.getpid)
    os.kill(worker, signal.SIGINT)
    time.sleep(0.2)
    assert portal.call(bounded, len, "abc") == 3
