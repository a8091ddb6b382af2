/** Run files of tests in one process, which most of them can share: starting one takes longer than what it tests. */

for (const name of process.argv.slice(2)) await import(`./${name}`);
