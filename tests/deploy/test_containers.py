"""The container file and the compose file follow the rules of linters, and refer only to things that exist."""

import json
import re
import shlex
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

from fingerpost.apps.cli.app import load_root
from tests.project.sources import ROOT


def read_instructions(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(line.split(maxsplit=1)[0], " ".join(line.split(maxsplit=1)[1].split())) for line in joined.splitlines()]


INSTRUCTIONS = read_instructions((ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8"))
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SERVICES = COMPOSE["services"]


def find_all(name):
    return [rest for instruction, rest in INSTRUCTIONS if instruction == name]


HOME = re.search(r"FINGERPOST_HOME=(\S+)", " ".join(find_all("ENV")))[1]


def parse_command(command, **variables):
    """Return the parsed options of one of our commands; compose's other variables have their defaults."""
    text = command if isinstance(command, str) else shlex.join(command)
    program, *words = shlex.split(re.sub(r"\$\{(\w+):?-(.*?)\}", lambda found: variables.get(*found.groups()), text))
    assert program == "fingerpost"
    group = load_root()
    while words and hasattr(group, "commands"):
        group, words = group.commands[words[0]], words[1:]
    with group.make_context("fingerpost", words) as context:
        return context


def test_the_base_is_a_python_that_we_support_by_its_version():
    (base,) = find_all("FROM")
    found = re.fullmatch(r"python:(3\.\d+)-slim-\w+", base)

    assert f"Programming Language :: Python :: {found[1]}" in PROJECT["classifiers"]


def test_containers_do_not_run_as_root():
    names = [name for name, _ in INSTRUCTIONS]

    assert find_all("USER")[-1].isdigit()
    assert names.index("USER") > max(place for place, name in enumerate(names) if name in ("RUN", "COPY"))


def test_only_the_gateway_of_its_network_is_a_trusted_proxy():
    """Another container, or a machine of that network, could name any caller."""
    trusted = parse_command(SERVICES["server"]["command"]).params["trusted_proxy"]

    assert list(trusted) == [COMPOSE["networks"]["default"]["ipam"]["config"][0]["gateway"]]


@pytest.mark.parametrize(("variables", "is_public"), [({}, True), ({"FINGERPOST_PUBLIC": ""}, False)])
def test_callers_without_a_token_can_be_refused(variables, is_public):
    assert parse_command(SERVICES["server"]["command"], **variables).params["public"] is is_public


def test_files_copied_into_images_exist():
    sources = [word for rest in find_all("COPY") for word in shlex.split(rest)[:-1]]

    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert find_all("ADD") == []


def test_each_package_of_the_image_has_a_hash_and_a_version_that_we_support():
    """Pip installs nothing else: --require-hashes refuses it, and --no-deps does not look for it."""
    text = (ROOT / "deploy" / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    pinned = re.findall(r"^([\w-]+)(?:\[.*\])?==(\S+).* --hash=sha256:", text, re.MULTILINE)
    extras = PROJECT["optional-dependencies"]
    needed = map(Requirement, [*PROJECT["dependencies"], *extras["scale"], *extras["streets"], *extras["telemetry"]])
    missing = [
        str(each)
        for each in needed
        if not any(name == each.name and each.specifier.contains(version, prereleases=True) for name, version in pinned)
    ]
    (with_hashes, without) = [run for run in find_all("RUN") if "pip install" in run]

    assert (missing, len(pinned)) == ([], len(text.splitlines()))
    assert ("--require-hashes" in with_hashes, "--no-deps --no-build-isolation" in without) == (True, True)


def test_the_command_is_one_of_ours_in_exec_form():
    """In a shell's form SIGTERM would stop at the shell, and calls under way would be lost."""
    (command,) = find_all("CMD")

    assert parse_command(json.loads(command)).command.name == "serve"


def test_health_is_reported_over_http():
    (check,) = find_all("HEALTHCHECK")

    assert json.loads(check.partition(" CMD ")[2])[0] == "python"
    assert "/health" in check


@pytest.mark.parametrize("name", ["server", "refresh"])
def test_a_service_runs_a_command_of_ours_and_may_do_little(name):
    service = SERVICES[name]
    parse_command(service["command"])

    assert (service["read_only"], service["tmpfs"], service["cap_drop"]) == (True, ["/tmp"], ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["volumes"] == [f"home:{HOME}"]


def test_the_home_is_a_volume_of_its_user():
    mounted = {volume.partition(":")[0] for service in SERVICES.values() for volume in service["volumes"]}

    assert json.loads(find_all("VOLUME")[0]) == [HOME]
    assert f"--home-dir {HOME} --create-home" in " ".join(find_all("RUN"))
    assert mounted == set(COMPOSE["volumes"])


def test_ports_are_on_loopback_only():
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]

    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_no_secret_is_written_down():
    written = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    passwords = re.findall(r"PASSWORD: (\S+)|://\w+:([^@]+)@", written)
    keys = re.findall(r"_KEY: (.*)", written)

    assert [value for pair in passwords for value in pair if value and not value.startswith("${")] == []
    assert [value for value in keys if not re.fullmatch(r"\$\{\w+:-\}", value)] == []
