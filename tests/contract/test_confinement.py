"""A parser that a file has taken over: it gets nothing but its file, and every format is read as before."""

import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import tools
from graph.errors import CitewellError, UnreadableDocument
from tests.contract.test_sandbox import HOW
from tests.distributions import install
from tools.confinement.kernel import MACHINE
from tools.confinement.landlock import landlock_version
from tools.confinement.users import exists_here
from tools.library.new_documents import NewDocument
from tools.library.reading import ReadFile, WiredDocument, read_document
from tools.library.sandbox import Sandbox
from tools.parsers import Recognition
from tools.parsers.programs import libreoffice, tesseract

FILES = Path(__file__).parents[1] / "fixtures" / "documents"
EACH_FORMAT = {path.suffix: path for path in sorted(FILES.iterdir()) if path.suffix and path.stem != "old"}.values()
PDFS = [FILES.with_name("published") / name for name in ("winter_zh.pdf", "tariff_office.pdf")]
needs_landlock = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
needs_seccomp = pytest.mark.skipif(
    sys.platform != "linux" or MACHINE not in ("x86_64", "aarch64"), reason="no filter of system calls for this system"
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

# Each name of what a hostile parser tries stands for code; what it gives back is how far it got.
HOSTILE = """
import contextlib, ctypes, json, os, resource, signal, socket, subprocess, sys, threading
from tools.parsers import Block, Parsed, Parser

def outcome(code, given):
    names = {**globals(), "given": given}
    try:
        exec(code, names)
    except BaseException as error:
        return type(error).__name__
    return names.get("got", "done")

def system_call(*arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(*map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), "")

AT_IMPORT = outcome("open('/etc/passwd').close()", None)

def read(data):
    asked = json.loads(data)
    text = json.dumps([AT_IMPORT if asked["code"] == "import" else outcome(asked["code"], asked["given"])])
    return Parsed(text, (Block(0, len(text), "paragraph"),))

parser = Parser(("text/x-hostile",), (".hostile",), read)
"""


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    folder = tmp_path_factory.mktemp("parsers")
    install(folder, "hostile", {"hostile": HOSTILE}, "[citewell.parsers]\nhostile = hostile:parser\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for name in ("ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "MY_TOKEN", "CITEWELL_AUTH__SECRET"):
            patch.setenv(name, "hush")
        opened = Sandbox(1, 60, 1024)
        yield opened
        await opened.close()


async def tried(sandbox: Sandbox, code: str, given: Any = None) -> Any:
    """Have a parser run code; return the name of the error that it met, or ``got``."""
    data = json.dumps({"code": code, "given": given}).encode()
    found = await sandbox.read(WiredDocument.of(NewDocument(name="a.hostile", data=data)), replace(HOW, dimension=None))
    [said] = json.loads(found.texts[0])
    return said


def readable(path: str) -> bool:
    return bool(Path(path).read_bytes())


def is_folder(path: str) -> bool:
    return Path(path).is_dir()


def left_over(names: str) -> list[Path]:
    return list(Path("/tmp").glob(names))


async def test_it_is_read_at_all(sandbox: Sandbox) -> None:
    assert await tried(sandbox, "got = 1 + 1") == 2
    assert await tried(sandbox, "thread = threading.Thread(target=print); thread.start(); thread.join()") == "done"


@needs_landlock
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/proc/{parent}/cmdline", "/proc/self/status", "{clone}/pyproject.toml", "{secret}"]
)
async def test_it_reads_no_file(sandbox: Sandbox, path: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hush")
    path = path.format(parent=os.getpid(), clone=Path(tools.__file__).parents[1], secret=secret)
    assert readable(path)
    assert await tried(sandbox, "open(given)", path) == "PermissionError"


@needs_landlock
async def test_its_module_is_imported_where_nothing_can_be_read(sandbox: Sandbox) -> None:
    assert await tried(sandbox, "import") == "PermissionError"


@needs_seccomp
@pytest.mark.parametrize("what", ["environ", "mem", "maps"])
async def test_it_sees_nothing_of_the_server(sandbox: Sandbox, what: str) -> None:
    assert await tried(sandbox, f"open(f'/proc/{{os.getppid()}}/{what}', 'rb').read(1)") == "PermissionError"
    libc = ctypes.CDLL(None)
    assert libc.prctl(3, 0, 0, 0, 0) == 0  # not dumpable: its memory is closed to its own user too


async def test_it_has_no_secret_of_the_environment(sandbox: Sandbox) -> None:
    assert await tried(sandbox, "got = [name for name in os.environ if 'hush' in os.environ[name]]") == []


@needs_landlock
async def test_it_writes_into_its_own_folder_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o777)
    assert await tried(sandbox, "open(given, 'w')", str(tmp_path / "a")) == "PermissionError"
    assert await tried(sandbox, "open('/tmp/citewell-hostile', 'w')") == "PermissionError"
    code = "import tempfile\nwith tempfile.NamedTemporaryFile() as file: file.write(b'a')\ngot = tempfile.gettempdir()"
    scratch = await tried(sandbox, code)
    assert is_folder(scratch)
    assert scratch != "/tmp"
    await sandbox.rest()
    assert not is_folder(scratch)


CALLS = {
    "a socket": "socket.socket()",
    "a local socket": "socket.socket(socket.AF_UNIX)",
    "a pair of sockets": "socket.socketpair()",
    "a server": "socket.create_server(('127.0.0.1', 0))",
    "a program": "subprocess.run(['/bin/true'])",
    "a process": "os.fork() or os._exit(0)",
    "another way to a process": "os.posix_spawn('/bin/true', ['true'], {})",
    "a program in its place": "os.execv('/bin/true', ['true'])",
    "to signal the server": "os.kill(os.getppid(), 0)",
    "to end its group": "os.killpg(os.getpgid(0), 0)",
    "to end all": "os.kill(-1, 0)",
    "to stop the server by its limits": "resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
    "to slow the server": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "to hold the server up": "os.sched_setaffinity(os.getppid(), {0})",
    "to change rights": "os.chmod(given, 0o777)",
    "to change times": "os.utime(given)",
    "to get root back": "os.setuid(0) if os.getuid() else os.chown(given, 1, 1)",
    "to see all processes": "os.listdir('/proc')",
}


@needs_seccomp
@needs_landlock
@pytest.mark.parametrize("what", CALLS)
async def test_it_may_not(sandbox: Sandbox, what: str, tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert await tried(sandbox, CALLS[what], str(tmp_path / "a")) == "PermissionError"


@needs_seccomp
@pytest.mark.parametrize(
    "arguments",
    [
        (101, 16, "{parent}", 0, 0),
        (310, "{parent}", 0, 0, 0, 0, 0),
        (425, 1, 0),
        (434, "{parent}", 0),
        (29, 0, 1, 0o600),
    ],
    ids=["ptrace", "process_vm_readv", "io_uring_setup", "pidfd_open", "shmget"],
)
@pytest.mark.skipif(MACHINE != "x86_64", reason="numbers of x86-64")
async def test_it_makes_no_such_call_either(sandbox: Sandbox, arguments: tuple[Any, ...]) -> None:
    given = [os.getpid() if each == "{parent}" else each for each in arguments]
    assert await tried(sandbox, "system_call(*given)", given) == "PermissionError"


@needs_seccomp
@pytest.mark.skipif(MACHINE != "x86_64", reason="numbers of x86-64")
@pytest.mark.parametrize("number", [463, 1000, 0x40000000 + 39])
async def test_calls_that_nobody_knows_yet_are_not_there(sandbox: Sandbox, number: int) -> None:
    code = "try: system_call(given)\nexcept OSError as error: got = error.errno"
    assert await tried(sandbox, code, number) == 38


TWIN = """
import os, sys
from pathlib import Path
from tools.confinement.users import leave_root

os.getpid = lambda: 1
print(leave_root(Path(sys.argv[1]), [], files_are_restricted=True), flush=True)
sys.stdin.read()
"""


@as_root
@pytest.mark.skipif(not exists_here(61_000), reason="this container has no such users")
def test_no_two_processes_are_the_same_user(tmp_path: Path) -> None:
    with ExitStack() as open_processes:
        users = []
        for name in ("first", "second"):
            (folder := tmp_path / name).mkdir()
            command = [sys.executable, "-c", TWIN, str(folder)]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            open_processes.enter_context(process)
            assert process.stdout is not None
            users.append(int(process.stdout.readline()))
    assert len(set(users)) == 2
    assert min(users) > 60_000


@as_root
@pytest.mark.skipif(not exists_here(61_000), reason="this container has no such users")
async def test_it_is_not_root(sandbox: Sandbox) -> None:
    user = await tried(sandbox, "got = os.getresuid()")
    assert len(set(user)) == 1
    assert user[0] > 60_000
    assert await tried(sandbox, "got = os.getgroups()") == []


async def test_what_holds_is_told(sandbox: Sandbox) -> None:
    holds, _ = await sandbox.run("confinement", {}, b"")
    assert holds["landlock"] == landlock_version()
    assert holds["privileges"] == (sys.platform == "linux")


FORGERIES = {
    "another workspace": "rows.PackedDocument.of = lambda workspace, *rest, **more: of(workspace + 1, *rest, **more)",
    "another document": "rows.PackedDocument.of = lambda workspace, number, *rest, **more:"
    " of(workspace, number[:-1] + '%x' % (15 - int(number[-1], 16)), *rest, **more)",
    "another's segments": "rows.PackedDocument.of = lambda *all, **more:"
    " dataclasses.replace(of(*all, **more), segments=0)",
    "no rows": "rows.PackedDocument.of = lambda *all, **more: dataclasses.replace(of(*all, **more), rows=b'PGCOPY')",
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_what_a_taken_over_process_replies_is_its_document_or_refused(sandbox: Sandbox, forgery: str) -> None:
    imports = "import dataclasses\nimport tools.retrieval.segment_rows as rows\nof = rows.PackedDocument.of\n"
    with pytest.raises(UnreadableDocument):
        await tried(sandbox, imports + FORGERIES[forgery])
    assert await tried(sandbox, "got = 1") == 1  # by another process


@pytest.mark.parametrize("others", [{"workspace": 2}, {"user": "bob"}])
async def test_what_a_file_leaves_in_its_process_meets_nobody_elses(sandbox: Sandbox, others: dict[str, Any]) -> None:
    await tried(sandbox, "sys.left = 'a trap'")
    assert await tried(sandbox, "got = getattr(sys, 'left', None)") == "a trap"
    new = NewDocument(
        name="a.hostile", data=json.dumps({"code": "got = getattr(sys, 'left', None)", "given": None}).encode()
    )
    other = await sandbox.read(WiredDocument.of(new), replace(HOW, dimension=None, **others))
    assert other.texts == ["[null]"]


async def test_no_file_says_who_may_read_it(sandbox: Sandbox) -> None:
    code = (
        "import dataclasses\nimport tools.library.reading as reading\nmake = reading.make_ready\n"
        "def forged(*all, **more):\n"
        "    ready, parsed = make(*all, **more)\n"
        "    fields = dataclasses.replace(ready.fields, owner='eve', readers=['user:eve'], space_id='1')\n"
        "    return dataclasses.replace(ready, fields=fields), parsed\n"
        "reading.make_ready = forged"
    )
    await tried(sandbox, code)
    new = NewDocument(name="a.md", data=b"A lamp.", owner="ann", readers=["user:bob"])
    fields = (await sandbox.read(WiredDocument.of(new), HOW)).ready.fields
    assert (fields.owner, fields.readers, fields.space_id) == ("ann", ["user:bob"], None)
    await sandbox.rest()


def document(path: Path) -> WiredDocument:
    return WiredDocument.of(NewDocument(name=path.name, data=path.read_bytes()))


@pytest.mark.parametrize("path", [*EACH_FORMAT, *PDFS], ids=lambda path: path.name)
async def test_every_format_is_read_as_before(sandbox: Sandbox, path: Path) -> None:
    try:
        here: ReadFile | CitewellError = read_document(document(path), HOW)
    except CitewellError as error:
        here = error
    if isinstance(here, CitewellError):
        with pytest.raises(type(here)) as refused:
            await sandbox.read(document(path), HOW)
        assert refused.value.message == here.message
    else:
        there = await sandbox.read(document(path), HOW)
        assert there.ready.content_hash == here.ready.content_hash
        assert there.ready.fields.metadata == here.ready.fields.metadata


@pytest.mark.skipif(libreoffice() is None, reason="LibreOffice is not installed")
async def test_libreoffice_works_within(sandbox: Sandbox) -> None:
    before = left_over("OSL_PIPE_*")  # by a LibreOffice of somebody else
    there = await sandbox.read(document(FILES / "old.doc"), HOW)
    assert there.ready.fields.metadata["converted_by"] == "LibreOffice"
    assert left_over("OSL_PIPE_*") == before


@pytest.mark.skipif(tesseract() is None, reason="tesseract is not installed")
async def test_tesseract_works_within(sandbox: Sandbox) -> None:
    scan = document(FILES / "scanned.pdf")
    there = await sandbox.read(scan, replace(HOW, recognition=asdict(Recognition())))
    assert there.ready.fields.metadata["ocr"] == "tesseract"


VARIANT = """
import os, socket, subprocess, sys
from pathlib import Path
from tools.confinement.process import confine

def outcome(attempt):
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"

confine(Path(sys.argv[1]), [], [Path("/bin/true").resolve()])
local = socket.socket(socket.AF_UNIX)
print(*map(outcome, [
    lambda: subprocess.run(["/bin/true"], check=True),
    lambda: subprocess.run(["/bin/cat", "/dev/null"], check=True),
    lambda: open("/etc/passwd"),
    lambda: socket.socket(),
    lambda: local.connect(sys.argv[2]),
    lambda: os.kill(os.getppid(), 0),
    lambda: os.setsid(),
]))
"""


@needs_seccomp
@pytest.mark.skipif(landlock_version() < 6, reason="this kernel has no Landlock for signals")
def test_what_runs_libreoffice_and_tesseract_reaches_nothing_else_either(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        server.listen()
        (scratch := tmp_path / "scratch").mkdir()
        command = [sys.executable, "-c", VARIANT, str(scratch), str(tmp_path / "socket")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["done", *["PermissionError"] * 6]
