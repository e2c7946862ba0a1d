"""The programs that run OpenTripPlanner: a recent Java, and the jar, which Maven fetches once into a folder."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import platformdirs

VERSION = "2.9.0"
OLDEST_JAVA = 25
CACHE = "FINGERPOST_OTP_CACHE"
JAVA = "FINGERPOST_OTP_JAVA"

_JAVA_VERSION = re.compile(r'version "(\d+)')
# Maven takes the address of the artifacts from its own settings; none is named here.
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy"
# The jar names a parent that was never published: this project is that parent.
_PARENT = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.opentripplanner</groupId>
  <artifactId>otp-root</artifactId>
  <version>{VERSION}</version>
  <packaging>pom</packaging>
</project>
"""


class ProgramMissing(Exception):
    """What is needed to run OpenTripPlanner is not on this machine; the message says what."""


def cache_folder() -> Path:
    named = os.environ.get(CACHE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("fingerpost", appauthor=False)) / "otp"


def find_java() -> Path:
    """Return a Java that is new enough: the one that is named, JAVA_HOME's, the path's, or one beside it."""
    for java in _list_javas():
        if (_java_version(java) or 0) >= OLDEST_JAVA:
            return java
    raise ProgramMissing(f"OpenTripPlanner {VERSION} needs Java {OLDEST_JAVA} or later, and none was found; set {JAVA}")


def get_jar() -> Path:
    folder = cache_folder() / "jar"
    jar = folder / f"otp-shaded-{VERSION}.jar"
    if jar.is_file():
        return jar
    maven = shutil.which("mvn")
    if maven is None:
        raise ProgramMissing("Maven is needed to fetch OpenTripPlanner, and was not found")
    draft = cache_folder() / f"jar-{os.getpid()}"
    draft.mkdir(parents=True)
    try:
        (draft / "pom.xml").write_text(_PARENT, encoding="utf-8")
        artifact = f"org.opentripplanner:otp-shaded:{VERSION}"
        command = [maven, "--batch-mode", "--quiet", f"-Dmaven.repo.local={draft / 'repository'}", _COPY]
        command += [f"-Dartifact={artifact}", f"-DoutputDirectory={draft}"]
        done = subprocess.run(command, cwd=draft, capture_output=True, text=True, check=False)
        if done.returncode or not (draft / jar.name).is_file():
            raise ProgramMissing(f"Maven did not bring {artifact}:\n{(done.stdout + done.stderr)[-2000:]}")
        folder.mkdir(exist_ok=True)
        (draft / jar.name).replace(jar)
    finally:
        shutil.rmtree(draft)
    return jar


def _list_javas():
    name = "java.exe" if os.name == "nt" else "java"
    if os.environ.get(JAVA):
        yield Path(os.environ[JAVA])
        return
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"]) / "bin" / name
    on_path = shutil.which("java")
    if on_path is not None:
        yield Path(on_path)
        home = Path(on_path).resolve().parent.parent
        yield from sorted(home.parent.glob(f"*/bin/{name}"))


def _java_version(java: Path) -> int | None:
    if not java.is_file():
        return None
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = _JAVA_VERSION.search(told.stderr + told.stdout)
    return None if found is None else int(found[1])
