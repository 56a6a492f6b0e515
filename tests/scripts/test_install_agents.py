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
const fs = require("fs"), pins = require(process.cwd() + "/.node/package.json")
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
PYTHON_THAT_MAKES_A_PIP = """\
mkdir -p .node/hermes/bin
printf '#!/bin/sh\\necho "$*" >>calls\\n' >.node/hermes/bin/pip
chmod +x .node/hermes/bin/pip
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the script, the pins, and an npm that needs no network."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed: run scripts/setup-tests")
    for name in ("scripts/install-agents", "tests/real/package.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for program, script in (("npm", NPM_THAT_INSTALLS), ("python3", PYTHON_THAT_MAKES_A_PIP)):
        (tmp_path / "bin" / program).write_text(f"#!/bin/sh\n{script}")
        (tmp_path / "bin" / program).chmod(0o755)
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


def test_what_all_brought_is_enough_for_the_set_of_the_tests_but_not_the_other_way_round(checkout: Path) -> None:
    install(checkout)
    after_set = calls(checkout)
    assert install(checkout, "--all").returncode == 0
    after_all = calls(checkout)
    assert "hermes-agent[acp]==" in (checkout / "calls").read_text().splitlines()[-1]
    assert (checkout / ".node/node_modules/.bin/hermes").is_symlink()
    assert after_all > after_set
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


@pytest.mark.parametrize(
    ("version", "is_old"), [("20.20.2", True), ("22.18.9", True), ("22.19.0", False), ("24.1.0", False)]
)
def test_a_machine_with_an_old_node_gets_another_beside_the_agents(checkout: Path, version: str, is_old: bool) -> None:
    preload = checkout / "version.cjs"
    preload.write_text(f'Object.defineProperty(process.versions, "node", {{value: "{version}"}})')
    install(checkout, NODE_OPTIONS=f"--require {preload}")
    wanted = json.loads((checkout / ".node/package.json").read_text())["dependencies"]
    assert any(name.startswith("node-linux-") for name in wanted) is is_old


def test_a_flag_that_it_does_not_know_is_wrong_use(checkout: Path) -> None:
    assert install(checkout, "--every").returncode == 2


def test_every_version_is_exact_and_no_registry_is_named() -> None:
    pins = json.loads(PINS.read_text())
    for version in (*pins["dependencies"].values(), *pins["devDependencies"].values(), *pins["config"].values()):
        assert all(part.isdigit() for part in version.split(".")), version
    assert "://" not in PINS.read_text()
