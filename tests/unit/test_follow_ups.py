"""Follow-up questions take the frame of the last one: what they say replaces what it said in their place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.rows import Turn
from text.words import count_words
from tools.rules.follow_ups import LONGEST_FOLLOW_UP, standalone


def after(question: str, follow_up: str) -> str:
    return standalone(follow_up, [Turn(question=question, standalone_question=question, answer="")]).question


REPLACED = [
    # A term replaces one of its kind.
    ("What is the default of shared_buffers?", "And of work_mem?", "What is the default of work_mem?"),
    ("What does --force do?", "and --quiet?", "What does --quiet do?"),
    ("How large is the frame of IPv4?", "And IPv6?", "How large is the frame of IPv6?"),
    ("Which tea is brewed at 80%?", "what about at 95%?", "Which tea is brewed at 95%?"),
    ("What does Ctrl+PageUp do?", "and PageDown?", "What does Ctrl+PageDown do?"),
    ("Where does nginx store its logs?", "And Apache?", "Where does Apache store its logs?"),
    ("How long are logs kept?", "And backups?", "How long are backups kept?"),
    ("What is a segment?", "And a claim?", "What is a claim?"),
    ("Which port does the server listen on?", "and the client?", "Which port does the client listen on?"),
    ("When is the infile closed?", "and the outfile?", "When is the outfile closed?"),
    ("What is the default port of the shop backend?", "And RabbitMQ?", "What is the default port of RabbitMQ?"),
    # A phrase replaces that of the same preposition, and a word one of its kind.
    (
        "Where is the file on a Linux machine with snaps?",
        "what about on macOS?",
        "Where is the file on macOS with snaps?",
    ),
    ("How long is the way from Aska to Sula?", "And from Nore to Brack?", "How long is the way from Nore to Brack?"),
    ("How do I write a byte in its decimal form?", "what about hex?", "How do I write a byte in its hex form?"),
    ("Which key moves one line down?", "And upwards?", "Which key moves one line upwards?"),
    # "One" stands for a noun, and a verb that is left out for the last question's.
    ("How long is a session kept?", "And an ephemeral one?", "How long is an ephemeral session kept?"),
    ("Can I add a VIRTUAL column?", "is that also possible for a STORED one?", "Can I add a STORED column?"),
    ("Where does init of alphad write?", "what about the one for alphabeat?", "Where does init of alphabeat write?"),
    ("Does the box layout draw clusters?", "And does ring?", "Does the ring layout draw clusters?"),
    ("default width of a box", "its height?", "default height of a box"),
    # What has no place is added.
    ("How many errors are allowed?", "And while it is busy?", "How many errors are allowed while it is busy?"),
    ("Which code does it give if a user is away?", "And when it rains?", "Which code does it give when it rains?"),
    ("How do I copy a folder with --archive?", "and without that flag?", "How do I copy a folder without --archive?"),
    ("Which status is sent?", "what about seeother?", "seeother: Which status is sent?"),
    ("Who deletes old files?", "who may do that?", "Who deletes old files? who may do that?"),
    ("How do I mount a disk?", "And then?", "How do I mount a disk? And then?"),
    # Chinese and Vietnamese.
    ("shared_buffers 的默认值是多少？", "那 work_mem 呢？", "work_mem 的默认值是多少？"),
    ("做软 RAID5 要几块盘？", "RAID6 的话？", "做软 RAID6 要几块盘？"),
    ("按「减」会怎样？", "那「除」呢？", "按「除」会怎样？"),
    ("第一个主分区叫什么？", "第一个逻辑分区呢", "第一个逻辑分区叫什么？"),
    ("数值太长会变成什么？", "文字太长的话会怎样", "文字太长：数值太长会变成什么？"),
    ("Giá trị của shared_buffers là gì?", "còn work_mem thì sao?", "Giá trị của work_mem là gì?"),
    ("Một ổ SCSI có mấy phân vùng?", "còn ổ IDE?", "Một ổ IDE có mấy phân vùng?"),
    ("Ảnh ở mức 100% thế nào?", "Thế ở mức 0% thì sao?", "Ảnh ở mức 0% thế nào?"),
]
RESOLVED = [
    ("How do I turn on autovacuum?", "How do I turn it off again?", "How do I turn autovacuum off again?"),
    ("How do I enable server_tokens?", "Can I hide that option?", "Can I hide server_tokens?"),
    ("What is a segment?", "How large is it?", "How large is the segment?"),
    ("Which tea is in the green box?", "How long does it keep?", "How long does the green box keep?"),
    ("reply.status is None, what now?", "What does it say below zero?", "What does reply.status say below zero?"),
    (
        "How do I set a marker in an editor?",
        "And is there one that fades?",
        "is there a marker that fades? (set editor)",
    ),
    ("git stash 有什么用？", "这个命令会删除文件吗？", "git stash会删除文件吗？"),
    ("怎么打开 autovacuum？", "怎么关掉它？", "怎么关掉autovacuum？"),
    ("Lệnh git stash làm gì?", "Lệnh này có xóa tệp không?", "git stash có xóa tệp không?"),
    ("Làm thế nào để bật autovacuum?", "Làm sao để tắt nó?", "Làm sao để tắt autovacuum?"),
]


@pytest.mark.parametrize(("question", "follow_up", "expected"), REPLACED)
def test_what_an_elliptical_question_says_replaces_its_like(question: str, follow_up: str, expected: str) -> None:
    assert after(question, follow_up) == expected


@pytest.mark.parametrize(("question", "follow_up", "expected"), RESOLVED)
def test_a_pronoun_is_replaced_by_the_subject_of_the_last_question(
    question: str, follow_up: str, expected: str
) -> None:
    assert after(question, follow_up) == expected


@pytest.mark.parametrize(
    "stands_alone",
    [
        "pack.deflate with its usual level gives which ratio?",
        "How can I set the text back to how it was an hour ago?",
        "Is it possible to remove the main folder?",
        "How long can the name be that a folder is given?",
        "open a file so that nothing can be written to it",
        "can two programs have the same file open",
        "may toi it ram qua, can bao nhieu bo nho de cai?",
        "表格的批注想让它一直显示，如何操作？",
        "dput thì cấu hình riêng cho từng user ở đâu",
        "What is the difference between a session and an ephemeral one?",
        "Can one delete a folder?",
    ],
)
def test_a_question_that_names_its_subject_takes_nothing_from_the_last(stands_alone: str) -> None:
    assert after("How many entries does the HTTP/2 table of Larkspur hold?", stands_alone) == stands_alone


def test_a_follow_up_of_a_follow_up_is_asked_of_what_that_meant() -> None:
    turns: list[Turn] = []
    for question in ("What is the default of shared_buffers?", "And of work_mem?", "what about wal_buffers?"):
        made = standalone(question, turns).question
        turns.append(Turn(question=question, standalone_question=made, answer=""))
    assert [turn["standalone_question"] for turn in turns[1:]] == [
        "What is the default of work_mem?",
        "What is the default of wal_buffers?",
    ]


def test_of_a_long_message_its_question_is_the_frame() -> None:
    long = f"{'I have tried this for days. ' * 20}What is the default of shared_buffers?"
    assert after(long, "And of work_mem?") == "What is the default of work_mem?"
    assert after("word " * 200, "And of work_mem?") == "And of work_mem?"


_PIECES = [
    *("and", "What is", "what about", "how do I", "turn", "it", "its", "that", "one", "ones", "the", "a", "then"),
    *("in", "from", "to", "of", "on", "with", "if", "when", "does", "work_mem", "--all", "80%", "IPv6", "Linux"),
    *("Larkspur 4.0", "server", "down", "box", "?", ",", "那", "呢", "的", "它", "是什么", "第一个分区", "「减」"),
    *("còn", "thì sao", "nó", "ổ", "lệnh này"),
]
PIECES = st.lists(
    st.sampled_from(_PIECES),
    max_size=12,
).map(" ".join)


@given(question=PIECES, follow_up=PIECES)
def test_a_standalone_question_is_no_longer_than_both(question: str, follow_up: str) -> None:
    made = standalone(follow_up, [Turn(question=question, standalone_question=question, answer="")])
    length, *both = count_words([made.question, question, follow_up])
    assert length <= sum(both)
    assert made.changed or length <= both[1]


@pytest.mark.parametrize("piece", ["the ", "of a ", "a.b/", "Aa ", "in in ", "--a-", "一个", "「", "it ", "one "])
def test_hostile_pairs_of_messages_are_prepared_at_once(piece: str) -> None:
    most = piece * (LONGEST_FOLLOW_UP // len(piece))
    for opening in ("And ", "what about ", "", "còn ", "那"):
        assert after(most, f"{opening}{most}"[:LONGEST_FOLLOW_UP])
