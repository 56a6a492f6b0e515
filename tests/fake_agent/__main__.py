"""An agent CLI for tests: a real process that speaks a real protocol, does as it is told, misbehaves on request.

    python tests/fake_agent/__main__.py --protocol NAME [--script WORDS] [--resume ID] [--log F] [--state D]

Standard library only. Protocols: stream_json, app_server, acp.

`--log` gets every line from stdin as it came; `--state` makes sessions outlive the process.
Without a script it answers ``echo: <the person's words>``. A script is words in the person's own words (after the
marker of the context block, if there is one), ``FAKE:name=value`` or ``FAKE:name``, done in their order; ``_`` in a
value is a space. `--script "name=value name …"` does the same for prompts without words, ``start:…`` before the start.

say=TEXT  text            slow=N,S    N pieces, S s apart (0.05)      long=N      N characters in one piece
think=TEXT                tool=NAME   a call and its result           badtool     a call that fails
opentool  a call without end          ask=NAME    may I? says allowed or denied     question    which colour?
withdraw=S  asks, withdraws after S s             silent=S  nothing for S s (for ever)     busy=S  the same, using CPU
endless   text for ever   loop=N      two pieces again and again      nostop      ignores the interrupt from here on
noise     lines that are no protocol  unknown     types nobody knows, nulls for lists      huge=MB     one unknown line
u2028     line separators in text     surrogate   half a surrogate pair             stderr=N  N bytes of it
deaf      reads stdin no more         half        half a line, then nothing         noend     text, but no end; stays
empty     a success without text      zero        a success without a turn          die=CODE  exits in mid-answer
kill      SIGKILL to itself           stubborn    ignores EOF and TERM from here on  closeout  closes stdout, lives on
child     leaves a child that holds stdout         escape    leaves a child in a session of its own, forked twice
error=login|quota|model|provider|context|refused  the failure as the protocol shows it
hear=S    waits S s for words that are steered into the turn, and says them
errtext   the same as the agent's text           quota=S,N  a usage limit, S s from now (or unnamed), the first N times
retry=N   tells of N retries          late=S      after the end, S s later, more text
unsolicited=S  after the end, S s later, a turn nobody asked for         second    a second result after the first
newid     the session id changes      compact     the transcript was compacted      usage     tells what it used
noids     ACP: text without ids of its messages from here on
remember=X, recall        across resume           pid, cwd, count, env=NAME, argv, model   says it
who       user, home, folder, groups              read=PATH   says what stands in it         write=PATH,TEXT
run=COMMAND   as a shell tool does                script=F    a Python file in --state       hog=MB  takes memory
The model "refused" is refused, the model "deaf" gets no answer.
start:slow=S, start:silent, start:die=CODE, start:noise, start:stderr=N, start:error=login   before it is ready
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fake_agent.acp import Acp
from tests.fake_agent.agent import Agent, Face
from tests.fake_agent.app_server import AppServer
from tests.fake_agent.deeds import Deeds
from tests.fake_agent.pi_rpc import PiRpc
from tests.fake_agent.stream_json import StreamJson

FACES: dict[str, Callable[[Agent], Face]] = {
    "stream_json": StreamJson,
    "app_server": AppServer,
    "pi_rpc": PiRpc,
    "acp": Acp,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--protocol", choices=tuple(FACES), required=True)
    parser.add_argument("--script", default="")
    parser.add_argument("--resume", default="")
    parser.add_argument("--log", default="")
    parser.add_argument("--state", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--effort", default="")
    parser.add_argument("--temporary", action="store_true", help="no session outlives the process")
    parser.add_argument("--version", action="version", version="9.9.9 (fake)")
    options, _ = parser.parse_known_args()  # a manifest may pass what only the real ones understand
    agent = Agent(options)
    agent.face = FACES[options.protocol](agent)
    agent.deeds = Deeds(agent)
    agent.run()


if __name__ == "__main__":
    main()
