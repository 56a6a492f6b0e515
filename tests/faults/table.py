"""The table of faults: what is done, what has to come of it, and the tests that do it and see it."""

from dataclasses import dataclass

HERE = "tests/faults"


@dataclass(frozen=True, slots=True)
class Row:
    """One fault. `tests` are ids of pytest, or prefixes of them; `booted` begin names of rows of `make booted`.

    All of them must pass; where no systemd can be booted, `tests` alone.
    """

    fault: str
    expected: str
    tests: tuple[str, ...]
    booted: tuple[str, ...] = ()


ROWS = (
    Row(
        "kill -9 of the daemon in mid-turn",
        "agents dead in 1 s; turn interrupted, told once (its pipes kept: whole); next message goes on; nothing twice",
        (
            f"{HERE}/test_killed.py::test_a_daemon_killed_in_mid_turn",
            "tests/test_daemon.py::test_a_turn_cut_by_a_kill_is_owned_up_to_and_the_queue_goes_on",
            "tests/test_daemon.py::test_no_process_of_a_killed_daemon_is_left",
        ),
        ("kill -9 of the daemon in a turn",),
    ),
    Row(
        "kill -9 of what starts runs (keeper, spawner)",
        "its agents end; the daemon stays and says so; the next run starts",
        (
            "tests/processes/test_direct.py::TestDirect::test_a_killed_keeper_takes_the_leader_along_and_the_mark_finds_the_rest",
            "tests/test_daemon.py::test_what_a_killed_keeper_left_is_swept_at_the_next_start",
        ),
        ("kill -9 of the spawner in a turn",),
    ),
    Row(
        "kill -9 of an agent in mid-stream",
        "partial text kept and marked; its tree gone; the next message is answered",
        (
            f"{HERE}/test_killed.py::test_an_agent_killed_in_mid_stream",
            "tests/e2e/test_spine.py::test_a_crash_keeps_what_was_said_and_the_next_message_works",
        ),
        ("kill -9 of the agent in a turn",),
    ),
    Row(
        "agent exits 0 without a result, closes stdout, ignores TERM, leaves a child on the pipe",
        "a failure of its kind within the grace, tree killed",
        (
            "tests/protocols/test_contract.py::test_an_end_of_the_process_without_an_end_of_the_turn_is_a_failure",
            "tests/protocols/test_contract.py::test_a_closed_stdout_ends_the_turn_though_the_process_lives",
            "tests/protocols/test_contract.py::test_an_agent_that_ignores_its_end_is_killed_and_that_is_said",
            "tests/protocols/test_contract.py::test_a_child_that_holds_the_pipe_does_not_hold_the_turn",
        ),
    ),
    Row(
        "agent hangs",
        "silence has its limit, TERM, KILL, reason told",
        (
            f"{HERE}/test_killed.py::test_an_agent_that_hangs_is_ended_with_the_reason",
            "tests/protocols/test_contract.py::test_silence_has_a_limit_that_does_not_depend_on_reads",
        ),
    ),
    Row(
        "event loop blocked",
        "no more beats, SIGABRT, traceback with file and line, restart",
        (f"{HERE}/test_killed.py::test_a_loop_that_is_stuck_beats_no_more_and_its_abort_shows_where",),
        ("the loop of the daemon hangs",),
    ),
    Row(
        "configuration broken at a start (restart storm)",
        "no storm: the door is shut and says why until it is mended; outside a service: exit 1 with the place",
        (
            "tests/test_systemd.py::test_a_refused_configuration_shuts_the_door_until_it_is_mended",
            "tests/test_systemd.py::test_why_a_service_could_not_start_stays_in_its_status",
            "tests/test_daemon.py::test_a_bad_configuration_is_refused_at_start_and_kept_out_while_running",
        ),
        ("start without kai.yaml",),
    ),
    Row(
        "SIGTERM during a turn",
        "nothing new begins, what runs gets its time, exit 0",
        (
            "tests/test_daemon.py::test_a_stop_lets_the_running_turn_end",
            "tests/test_systemd.py::test_the_manager_hears_of_the_start_a_reload_the_work_and_the_stop",
        ),
        ("SIGTERM in a turn of 6 s",),
    ),
    Row(
        "a second SIGTERM",
        "it stops at once and owns up",
        ("tests/test_daemon.py::test_a_second_signal_stops_at_once_and_owns_up",),
        ("SIGTERM twice in a turn",),
    ),
    Row(
        "disk full",
        "refused with what to do, reads work, goes on without a restart",
        (
            f"{HERE}/test_storage.py::test_a_full_disk",
            "tests/store/test_database.py::test_a_full_disk_loses_nothing_says_so_and_heals_by_itself",
            "tests/turns/test_stopping.py::test_a_full_disk_does_not_delay_a_stop_and_is_said",
        ),
    ),
    Row(
        "database locked by another process",
        "waits 5 s, then 503; nothing lost",
        (f"{HERE}/test_storage.py::test_a_database_that_another_program_locks",),
    ),
    Row("power cut", "every acknowledged message is there, no half file", (f"{HERE}/long_power.py::test_a_power_cut",)),
    Row(
        "database damaged, cut or gone; configuration unreadable",
        "refused with path and mend, never an empty state",
        (
            f"{HERE}/test_storage.py::test_a_damaged_database_is_refused_with_path_and_mend",
            f"{HERE}/test_storage.py::test_a_configuration_that_cannot_be_read_is_refused_with_its_path",
            "tests/store/test_opening.py::test_a_damaged_or_foreign_file_is_refused_and_left_as_it_is",
        ),
        ("start with a damaged database",),
    ),
    Row(
        "clock a day forward, two days back",
        "limits and turns are right, the order of messages too, nothing restarts",
        (f"{HERE}/long_power.py::test_a_clock_that_jumps",),
    ),
    Row(
        "no descriptors left",
        "running turns go on, new peers are refused, it heals",
        (
            f"{HERE}/test_room.py::test_no_more_descriptors",
            "tests/processes/test_direct.py::test_too_many_open_files_are_an_error_and_leave_nothing",
        ),
    ),
    Row(
        "no processes left",
        "a failure of its kind; a retry later works",
        (f"{HERE}/test_room.py::test_no_more_processes",),
    ),
    Row(
        "no memory left",
        "only the guilty run dies, the reason is memory",
        (
            f"{HERE}/test_room.py::test_no_more_memory",
            "tests/processes/test_direct.py::test_an_out_of_memory_kill_is_told_apart",
        ),
    ),
    Row(
        "1,000 messages wait, kill -9 halfway",
        "in order, memory bounded, each exactly once",
        (f"{HERE}/long_queue.py::test_a_thousand_queued_messages_survive_a_kill_halfway",),
    ),
    Row(
        "a bridge that never reads",
        "memory bounded, others unaffected",
        (
            f"{HERE}/test_room.py::test_a_bridge_that_never_reads",
            "tests/api/test_connection.py::test_a_reader_that_stands_still_costs_one_event_and_is_cut_off",
        ),
    ),
    Row(
        "malformed requests",
        "a 400 or a close, the daemon goes on",
        (
            "tests/api/test_robustness.py",
            "tests/api/test_connection.py::test_a_body_of_a_hundred_megabytes_is_refused_before_it_is_sent",
        ),
    ),
    Row(
        "slow and half-open peers",
        "limits for head and idleness, a cap for each user",
        (
            f"{HERE}/long_slowloris.py",
            "tests/api/test_connection.py::test_a_head_that_drips_is_given_up_all_the_same",
            "tests/api/test_connection.py::test_one_uid_cannot_take_every_place",
        ),
    ),
    Row(
        "hostile names in a person's folder",
        "links, fifos, hard links, `..` and a terabyte of nothing refused; names shown harmless",
        ("tests/people/test_files.py", "tests/launcher/test_archive.py"),
    ),
    Row(
        "a file swapped for a link while it is read",
        "opened once, looked at through the descriptor",
        (
            "tests/people/test_files.py::test_a_race_never_yields_what_lies_behind_the_link",
            "tests/store/test_backup.py::test_a_folder_swapped_for_a_link_is_not_followed",
        ),
    ),
    Row(
        "person removed, home broken",
        "their runs are refused and ended, the others go on",
        (
            "tests/test_daemon.py::test_nothing_of_a_removed_person_goes_on",
            "tests/test_daemon.py::test_one_persons_broken_folder_keeps_nobody_else_out",
        ),
    ),
    Row(
        "reload of a broken configuration",
        "the last good one holds, the error is seen",
        (
            "tests/test_daemon.py::test_a_bad_configuration_is_refused_at_start_and_kept_out_while_running",
            "tests/test_systemd.py::test_a_refused_reload_is_told_in_the_status",
        ),
        ("systemctl reload with a bad file",),
    ),
    Row(
        "network gone",
        "bridges wait longer and longer, apart from each other; the daemon has none to lose",
        ("tests/bridges/test_patience.py",),
    ),
    Row(
        "lock, sockets and pids of a killed daemon",
        "the next start works and hurts no stranger",
        (
            f"{HERE}/test_killed.py::test_what_a_killed_daemon_leaves_does_not_hinder_the_next",
            "tests/store/test_opening.py::test_the_lock_of_a_dead_process_does_not_hinder_even_when_its_pid_lives",
            "tests/api/test_sockets.py::test_a_dead_daemons_socket_is_replaced_and_takes_connections",
            "tests/processes/test_marks.py::test_a_pid_that_passed_on_is_spared",
        ),
    ),
    Row(
        "a flood of log lines, a journal that stands still",
        "bounded, and nothing waits for it",
        (f"{HERE}/test_room.py::test_a_log_that_nobody_reads", "tests/test_log.py"),
    ),
)
