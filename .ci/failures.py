"""Print which tests failed, with the last lines of each: failures.py JUNIT_FILE. Exit with 1 where none did."""

import sys
from xml.etree import ElementTree

MOST_TESTS, MOST_LINES = 10, 30

failures = [
    (case, told)
    for case in ElementTree.parse(sys.argv[1]).iter("testcase")
    for told in case
    if told.tag in ("failure", "error")
]
for case, told in failures[:MOST_TESTS]:
    print(f"--- {case.get('file')}::{case.get('name')}", *(told.text or "").splitlines()[-MOST_LINES:], sep="\n")
if len(failures) > MOST_TESTS:
    print(f"--- and {len(failures) - MOST_TESTS} more")
sys.exit(not failures)
