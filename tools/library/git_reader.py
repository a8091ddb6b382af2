"""A reader of a git repository, by the machine's own git: shallow, without hooks, submodules or prompts."""

import asyncio
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from graph.errors import DependencyFailed, InvalidRequest, WebUnavailable
from tools.concurrency.tasks import finish_then_cancel
from tools.library.git_cache import GitCache, remove_unused
from tools.library.git_copy import copy_repository
from tools.library.new_documents import NewDocument, too_large
from tools.library.source_readers import LONGEST_PATH, Listing, ReadFile, SourceReader
from tools.library.sync_plan import Listed
from tools.parsers.textless import is_textless, passed_over
from tools.web.guard import Guard, Target
from tools.web.tunnel import opened_tunnel

log = logging.getLogger("citewell.library")

FETCH_SECONDS = 600
READ_SECONDS = 120
COPY = "copy"  # the folder in the cache of a repository while it is fetched
STOP_SECONDS = 5.0  # that git has to remove its lock files
FILES = {b"100644", b"100755"}
ONLY = ["file", "https"]  # the protocols that git may speak
_OPTIONS = [
    "protocol.allow=never",
    *(f"protocol.{name}.allow=always" for name in ONLY),
    "core.hooksPath=/dev/null",
    "credential.helper=",
    "core.askPass=",
    "gc.auto=0",
]
_ADVICE = "Check the address, the name of the branch, and that the repository can be read without a password."


class GitReader(SourceReader):
    """A reader of a folder of a repository at a branch, tag or the default one. Its latest commit is kept in ``cache``.

    With a ``guard`` the repository's host has to be a public one. One on disk is read below ``root`` alone, by a copy
    that leaves ``reserve`` bytes of the disk of the cache free; without a root, git reads it and all that it leads to.
    """

    def __init__(
        self,
        location: str,
        *,
        cache: Path,
        max_bytes: int,
        ref: str = "",
        folder: str = "",
        guard: Guard | None = None,
        root: Path | None = None,
        reserve: int = 0,
    ) -> None:
        self._url = as_git_url(location)
        path = disk_path(self._url)
        self._confined = (path, root) if path is not None and root is not None else None
        self._reserve = reserve
        self._ref = ref or "HEAD"
        self._folder = folder.strip("/")
        if self._ref.startswith("-") or any(sign in self._ref for sign in " :\n\0*^~"):
            raise InvalidRequest(f"ref: {ref!r} is no name of a branch, a tag or a commit.")
        self._caches = cache
        self._cache = GitCache(cache, self._url, self._ref)
        self._max_bytes = max_bytes
        self._guard = guard
        self._blobs: dict[str, Listed] = {}

    async def listing(self) -> Listing:
        """Fetch the latest commit and list its files. Raises DependencyFailed, or InvalidRequest for a wrong folder."""
        async with self._cache.fetching():
            if not await asyncio.to_thread((self._cache.folder / "HEAD").exists):
                await asyncio.to_thread(shutil.rmtree, self._cache.folder, ignore_errors=True)  # removed in part
                await asyncio.to_thread(self._cache.folder.mkdir, exist_ok=True)
                await self._git("init", "--bare", "--quiet")
            async with self._readable() as (url, options):
                fetch = ("fetch", "--depth=1", "--no-tags", "--force", "--quiet", "--no-recurse-submodules")
                ref = f"{self._ref}:refs/citewell/head"
                await self._git(*fetch, url, ref, options=options, seconds=FETCH_SECONDS)
            await self._collect()
            self._cache.hold()
            tree = f"refs/citewell/head:{self._folder}"
            try:
                listed = await self._git("ls-tree", "-r", "-z", "-l", "--full-tree", tree)
            except DependencyFailed as error:
                raise InvalidRequest(f"folder: {self._folder!r} is not in the repository.") from error
        await asyncio.to_thread(remove_unused, self._caches)
        return self._files(listed)

    @asynccontextmanager
    async def _readable(self) -> AsyncIterator[tuple[str, Sequence[str]]]:
        """Give what git may open, with options: the repository, or its copy where it is confined.

        Raises what copying does, and DependencyFailed where its host is none that may be asked.
        """
        if self._guard is not None and self._url.startswith("https:"):
            target = await self._checked(self._guard)
            async with opened_tunnel(target) as proxy:
                yield str(target.url), [f"http.proxy={proxy}", "http.followRedirects=false"]
            return
        if self._confined is None:
            yield self._url, ()
            return
        copy = self._cache.folder / COPY
        await asyncio.to_thread(shutil.rmtree, copy, ignore_errors=True)  # of a sync that was killed
        try:
            steps = copy_repository(*self._confined, copy, reserve=self._reserve)
            try:
                async with asyncio.timeout(FETCH_SECONDS):
                    while await finish_then_cancel(asyncio.to_thread(next, steps, True)) is None:
                        pass
            except TimeoutError:
                raise DependencyFailed(f"To copy the repository takes more than {FETCH_SECONDS} s.") from None
            yield f"./{COPY}", ()
        finally:
            await asyncio.to_thread(shutil.rmtree, copy, ignore_errors=True)

    async def _checked(self, guard: Guard) -> Target:
        """Return the repository's address with those that its host resolves to. Raises DependencyFailed."""
        try:
            return await guard.check(self._url)
        except WebUnavailable as error:
            raise DependencyFailed(f"The repository cannot be read: {error.message}.", suggestion=_ADVICE) from error

    async def _collect(self) -> None:
        """Remove what was fetched of commits before the latest, unless somebody reads it: then a later sync does."""
        with self._cache.unread() as may_collect:
            if not may_collect:
                return
            try:
                counts = dict(line.split(b": ", 1) for line in (await self._git("count-objects", "-v")).splitlines())
                is_one_pack = counts[b"count"] == b"0" and int(counts[b"packs"]) <= 1
                if not is_one_pack or counts[b"garbage"] != b"0":
                    await self._git("gc", "--prune=now", "--quiet", "--force", seconds=FETCH_SECONDS)
            except DependencyFailed as error:
                log.warning("what is left of earlier commits could not be removed: %s", error.message)

    def _files(self, listed: bytes) -> Listing:
        files: list[Listed] = []
        others = long = 0
        textless: list[str] = []
        for line in listed.split(b"\0"):
            about, _, name = line.partition(b"\t")
            if not name or any(part.startswith(b".") for part in name.split(b"/")):
                continue
            mode, _, blob, size = about.split()
            path = name.decode("utf-8", "backslashreplace")
            if mode not in FILES:
                others += 1
            elif is_textless(path):
                textless.append(path)
            elif len(name) > LONGEST_PATH:
                long += 1
            else:
                files.append(Listed(path, blob.decode(), int(size), f"git:{blob.decode()}"))
        self._blobs = {file.path: file for file in files}
        notes = [f"{others:,} symbolic links and submodules were not followed."] if others else []
        notes += [f"{long:,} paths are too long."] if long else []
        return Listing(files, [*notes, *passed_over(textless)])

    async def read(self, paths: Sequence[str]) -> Sequence[ReadFile]:
        """Read listed files; those that are larger than a document may be are not. Raises DependencyFailed."""
        small = [self._blobs[path] for path in paths if self._blobs[path].size <= self._max_bytes]
        asked = "".join(f"{file.fingerprint}\n" for file in small).encode()
        output = await self._git("cat-file", "--batch", given=asked) if small else b""
        contents: dict[str, bytes] = {}
        at = 0
        for file in small:
            header = f"{file.fingerprint} blob {file.size}\n".encode()
            if not output.startswith(header, at):
                raise DependencyFailed("The repository changed while it was read.", suggestion="Sync again.")
            start = at + len(header)
            contents[file.path] = output[start : start + file.size]
            at = start + file.size + 1
        return [
            NewDocument(data=contents[path], name=path, source_type="file")
            if path in contents
            else too_large(self._blobs[path].size, self._max_bytes)
            for path in paths
        ]

    async def close(self) -> None:
        """Let what was listed go with the next commit."""
        self._cache.release()

    async def _git(
        self, *arguments: str, options: Sequence[str] = (), given: bytes = b"", seconds: float = READ_SECONDS
    ) -> bytes:
        """Run git in the cache with ``given`` as its input, and return what it prints. Raises DependencyFailed."""
        program = await asyncio.to_thread(shutil.which, "git")
        if program is None:
            raise DependencyFailed("There is no git on this machine.", suggestion="Install git.")
        # A file and no pipe: a git that ends early closes nothing that is written to.
        with tempfile.TemporaryFile(dir=self._cache.folder) as stdin:
            stdin.write(given)
            stdin.seek(0)
            process = await asyncio.create_subprocess_exec(
                program, *_configured([*_OPTIONS, *options]), *arguments,
                cwd=self._cache.folder, env=_ENVIRONMENT | _inherited(),
                stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # one signal ends what git starts
            )  # fmt: skip
        try:
            async with asyncio.timeout(seconds):
                output, complaint = await process.communicate()
        except TimeoutError:
            raise DependencyFailed(f"git took longer than {seconds:.0f} s.", suggestion=_ADVICE) from None
        finally:
            if process.returncode is None:
                await _stop(process)
        if process.returncode:
            lines = complaint.decode("utf-8", "replace").strip().splitlines()
            said = next(
                (line for line in lines if line.startswith("fatal:")), lines[-1] if lines else "no reason given"
            )
            raise DependencyFailed(f"git could not read {self._url}: {said}", suggestion=_ADVICE)
        return output


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop git and what it has started."""
    try:
        _signal_group(process, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
    finally:
        _signal_group(process, signal.SIGKILL)
        await process.wait()


def _signal_group(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ALLOW_PROTOCOL": ":".join(ONLY),
    "GIT_DIR": ".",
    "LC_ALL": "C",
}


def _configured(options: Sequence[str]) -> list[str]:
    return [each for option in options for each in ("-c", option)]


def _inherited() -> dict[str, str]:
    """Return what git needs of the environment; nothing in it that could point git elsewhere."""
    return {name: os.environ[name] for name in ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ}


def disk_path(url: str) -> Path | None:
    """Return the path on this machine that a git address names; None of https:. Blocks. Raises InvalidRequest."""
    return None if url.startswith("https:") else resolved_path(unquote(urlsplit(url).path))


def resolved_path(path: str) -> Path:
    """Return a path without links. Blocks. Raises InvalidRequest."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidRequest("location: is no path.") from error


def as_git_url(location: str) -> str:
    """Return a local path as a file: address, and an https: or file: address as it is. Raises InvalidRequest."""
    try:
        if "://" not in location:
            return Path(location).resolve().as_uri()
        parts = urlsplit(location)
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidRequest("location: is neither a path nor an address.") from error
    if parts.scheme not in ONLY or "@" in parts.netloc or (parts.scheme == "file" and parts.netloc):
        raise InvalidRequest("location: must be a path, or an address of https: or file: without a password.")
    return location
