"""The clauses of the contract in the order of the matrix. Each is the mark of one or more tests in `tests/real`."""

STOPS = ("stop in mid-stream", "stop in mid-tool", "stop of a held model", "stop while asked")
TOLD = ("held model, told", "401, told", "429 with reset, told", "cut stream, told", "refused connection, told")
CLAUSES = (
    "started",
    "streamed",
    "prompt byte for byte",
    "block shown is block sent",
    "@ is not read",
    "its instructions",
    "tools paired",
    "question answered",
    "question denied",
    "question expired",
    "second message",
    "steered",
    *STOPS,
    "late output",
    "work after a result",
    "crash",
    "limits",
    "whole tree gone",
    "resumed",
    "resume refused",
    "model changed",
    "temporary",
    "kinds of failures",
    "passing error",
    "cut answer",
    "provider unreachable",
    "poisoned message",
    *TOLD,
)
