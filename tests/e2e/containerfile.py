"""Runs the steps of a Containerfile without a builder: each stage in a root folder of its own, under chroot.

The base image is stood in for by the host's /usr and Python, mounted read-only, and by a copy of what of /etc a process
needs. So the steps, the user, the paths and the environment are those of the image, and its distribution is not.

As a builder does, it takes up again what a step installed that reads the same files, such as a lock. Files are linked,
not copied: whatever replaces one later, as installers do, leaves the other name what it was.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ETC = (
    "group",
    "gshadow",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "nsswitch.conf",
    "passwd",
    "resolv.conf",
    "shadow",
    "ssl",
)
READ_ONLY = ("/usr", sys.base_prefix)
LINKS = {"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64", "sbin": "usr/sbin"}
PASSED_ON = ("PIP_CERT", "PIP_INDEX_URL", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy")
INSTALLED = "opt"  # where steps put what later builds take up again
INSTRUCTION = re.compile(r"(?P<name>[A-Z]+)\s+(?P<rest>.*)", re.DOTALL)


@dataclass(slots=True)
class Stage:
    """A stage as built: its root folder and what the instructions have set for the processes in it."""

    root: Path
    name: str
    base: str
    environment: dict[str, str]
    user: str = "0"
    folder: str = "/"
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    # A hash of the file it was given last and of the steps since; empty where it was given a folder, or nothing.
    layer: str = ""

    def invocation(self, command: list[str], **environment: str) -> list[str]:
        """Return the command line that runs a command in this stage, as its user; it becomes that command."""
        mounts = [
            f"mount --bind {place} {self.root}{place} && mount -o remount,ro,bind {self.root}{place}"
            for place in READ_ONLY
        ]
        mounts += [f"mount --rbind /dev {self.root}/dev", f"mount -t proc proc {self.root}/proc"]
        named = [f"{name}={value}" for name, value in {**self.environment, **environment}.items()]
        inside = ["/usr/bin/env", "-i", *named, "/bin/sh", "-c", f"cd {self.folder} && exec {shlex.join(command)}"]
        owner = f"--userspec={self.user}:{self.user}"
        enter = shlex.join(["chroot", owner, "--groups=", str(self.root), *inside])
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join([*mounts, f"exec {enter}"])]

    def run(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command in this stage to its end."""
        return subprocess.run(
            self.invocation(command, **environment), capture_output=True, text=True, encoding="utf-8", cwd="/"
        )


def read_instructions(containerfile: Path) -> list[tuple[str, str]]:
    """Return the instructions of a Containerfile, each with its text on one line."""
    lines = [line for line in containerfile.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found = [INSTRUCTION.fullmatch(line) for line in joined.splitlines() if line.strip()]
    return [(match["name"], match["rest"]) for match in found if match is not None]


def build(containerfile: Path, context: Path, folder: Path, kept: Path | None = None) -> Stage:
    """Carry out every instruction and return the last stage. Raises ValueError for an instruction that is not known.

    ``kept`` is a folder for what the next build takes up again.
    """
    stages: list[Stage] = []
    for name, rest in read_instructions(containerfile):
        if name == "FROM":
            stages.append(_stage(rest, folder / f"stage-{len(stages)}"))
            continue
        _carry_out(name, rest, stages, context, kept)
    return stages[-1]


def _stage(rest: str, root: Path) -> Stage:
    base, _, name = rest.partition(" AS ")
    for place in ("dev", "proc", "etc", "root", "home", "var/lib", "opt", "tmp"):
        (root / place).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    for place in READ_ONLY:
        (root / place.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for link, target in LINKS.items():
        (root / link).symlink_to(target)
    for each in ETC:
        source = Path("/etc", each)
        if source.is_dir():
            shutil.copytree(source, root / "etc" / each, symlinks=False, ignore_dangling_symlinks=True)
        elif source.exists():
            shutil.copy(source, root / "etc" / each)
    path = f"{sys.base_prefix}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return Stage(root, name, base, {"PATH": path, "HOME": "/root", "LC_ALL": "C.UTF-8"})


def _carry_out(name: str, rest: str, stages: list[Stage], context: Path, kept: Path | None) -> None:
    stage = stages[-1]
    match name:
        case "RUN":
            if stage.layer and kept is not None:
                stage.layer = _hash(stage.layer, rest)
                _run_once(rest, stage, kept)
            else:
                _run(rest, stage)
        case "COPY":
            *options, source, target = shlex.split(rest)
            origins = {f"--from={each.name}": each.root for each in stages}
            given = Path(f"{origins[options[0]] if options else context}/{source}")
            stage.layer = _hash(sys.version, stage.base, rest, given.read_bytes().hex()) if given.is_file() else ""
            if options:  # a stage that has ended is copied from once
                given.rename(_inside(stage, target))
            else:
                _copy(given, _inside(stage, target))
        case "WORKDIR":
            stage.folder = rest
            _inside(stage, rest).mkdir(parents=True, exist_ok=True)
        case _:
            _set(name, rest, stage)


def _run(rest: str, stage: Stage) -> None:
    passed_on = {each: os.environ[each] for each in PASSED_ON if each in os.environ}
    done = stage.run(["/bin/sh", "-c", rest], **passed_on)
    assert done.returncode == 0, f"{rest}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"


def _run_once(rest: str, stage: Stage, kept: Path) -> None:
    """Take up what the step installed in an earlier build; run it, and keep that in the place of all others."""
    layer = kept / stage.layer
    if layer.is_dir():
        _copy(layer, stage.root / INSTALLED)
        return
    _run(rest, stage)
    for other in kept.iterdir():
        shutil.rmtree(other)
    unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=kept))
    _copy(stage.root / INSTALLED, unfinished)
    unfinished.rename(layer)


def _hash(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _set(name: str, rest: str, stage: Stage) -> None:
    """Set what later processes have, and what is told of the image."""
    match name:
        case "ENV":
            for word in shlex.split(rest):
                variable, _, value = word.partition("=")
                stage.environment[variable] = re.sub(r"\$(\w+)", lambda used: stage.environment.get(used[1], ""), value)
        case "USER":
            stage.user = rest
        case "CMD":
            stage.command = json.loads(rest)
        case "HEALTHCHECK":
            stage.health = json.loads(rest.partition("CMD ")[2])
        case "EXPOSE" | "VOLUME":
            pass  # for whoever runs the image
        case _:
            raise ValueError(f"{name} is not an instruction that is carried out here")


def _inside(stage: Stage, target: str) -> Path:
    return stage.root / os.path.normpath(os.path.join(stage.folder, target)).lstrip("/")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, copy_function=_link)
    else:
        shutil.copy(source, target)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another file system
        shutil.copy2(source, target)
