"""`scripts/install-agents`, where it has nothing to do and where it must not go on."""

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PINS = CHECKOUT / "tests/real/package.json"
NPM_THAT_INSTALLS = """\
case " $* " in *" --include=dev "*) groups="dependencies devDependencies" ;; *) groups=dependencies ;; esac
echo "$*" >>calls
/usr/bin/env node - $groups <<'END'
const fs = require("fs"), pins = require(process.cwd() + "/tests/real/package.json")
const put = (path, text) => {
  fs.mkdirSync(require("path").dirname(path), {recursive: true})
  fs.writeFileSync(path, text, {mode: 0o755})
}
for (const group of process.argv.slice(2)) for (const [name, version] of Object.entries(pins[group])) {
  const folder = ".node/node_modules/" + name
  put(folder + "/package.json", JSON.stringify({version: process.env.OTHER || version}))
  for (const script of ["install.cjs", "postinstall.mjs"]) put(folder + "/" + script, "")
}
put(".node/node_modules/.bin/claude", "#!/bin/sh\\necho a version")
END
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the script, the pins, and an npm that needs no network."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed: run scripts/setup-tests")
    for name in ("scripts/install-agents", "tests/real/package.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, tmp_path / name)
    npm = tmp_path / "bin/npm"
    npm.parent.mkdir()
    npm.write_text(f"#!/bin/sh\n{NPM_THAT_INSTALLS}")
    npm.chmod(0o755)
    return tmp_path


def install(checkout: Path, *flags: str, **env: str) -> subprocess.CompletedProcess[str]:
    node = Path(str(shutil.which("node"))).parent
    path = f"{checkout / 'bin'}:{node}:/usr/bin:/bin"
    argv = [str(checkout / "scripts/install-agents"), *flags]
    return subprocess.run(argv, env={"PATH": path, **env}, capture_output=True, text=True, cwd="/")


def calls(checkout: Path) -> int:
    return len((checkout / "calls").read_text().splitlines())


def test_a_second_run_takes_no_time_and_asks_npm_nothing(checkout: Path) -> None:
    assert install(checkout).returncode == 0
    asked, began = calls(checkout), time.monotonic()
    assert install(checkout).returncode == 0
    assert calls(checkout) == asked
    assert time.monotonic() - began < 2


def test_what_all_brought_is_enough_for_the_pair_but_not_the_other_way_round(checkout: Path) -> None:
    install(checkout)
    after_pair = calls(checkout)
    assert install(checkout, "--all").returncode == 0
    after_all = calls(checkout)
    assert after_all > after_pair
    assert install(checkout).returncode == 0
    assert calls(checkout) == after_all


def test_a_changed_pin_installs_anew(checkout: Path) -> None:
    install(checkout)
    asked = calls(checkout)
    pins = checkout / "tests/real/package.json"
    pins.write_text(pins.read_text().replace('"@google/gemini-cli": "', '"@google/gemini-cli": "9'))
    assert install(checkout).returncode == 0
    assert calls(checkout) > asked


def test_another_version_than_the_pinned_one_is_no_success(checkout: Path) -> None:
    done = install(checkout, OTHER="0.0.1")
    assert done.returncode != 0
    assert "0.0.1 came instead of" in done.stderr
    assert not (checkout / ".node/installed").exists()


def test_a_flag_that_it_does_not_know_is_wrong_use(checkout: Path) -> None:
    assert install(checkout, "--every").returncode == 2


def test_every_version_is_exact_and_no_registry_is_named() -> None:
    pins = json.loads(PINS.read_text())
    for version in (*pins["dependencies"].values(), *pins["devDependencies"].values(), pins["config"]["node"]):
        assert all(part.isdigit() for part in version.split(".")), version
    assert "://" not in PINS.read_text()
