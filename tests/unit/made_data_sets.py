"""Public data sets in small: files of each one's shape, their text made up."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BRIDGE = "The town lies on a river. The Cedar Bridge was finished in 1911. It carries two lanes."
BRIDGE_VI = "Thị trấn nằm bên sông. Cầu Tuyết Tùng hoàn thành năm 1911. Cầu có hai làn xe."
BAKERY = "The bakery in Mill Lane opens at six. It sells rye bread on Fridays."


def write(file: Path, content: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return file


def write_lines(file: Path, rows: Sequence[Any]) -> Path:
    return write(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def asked(question: str, answer: str, context: str) -> dict[str, Any]:
    return {"question": question, "answers": [{"text": answer, "answer_start": context.index(answer)}]}


def write_xquad(folder: Path) -> Path:
    english = [
        {"context": BRIDGE, "qas": [asked("When was the Cedar Bridge finished?", "1911", BRIDGE)]},
        {"context": BAKERY, "qas": [asked("What opens?", "six. It sells rye", BAKERY)]},
    ]
    marked = f"\ufeff{BRIDGE_VI}"  # as some of the real translations begin
    vietnamese = [{"context": marked, "qas": [asked("Cầu hoàn thành năm nào?", "1911", marked)]}]
    for language, paragraphs in (("en", english), ("vi", vietnamese)):
        write(folder / f"{language}.json", json.dumps({"data": [{"title": "Town", "paragraphs": paragraphs}]}))
    return folder


def write_clapnq(folder: Path) -> Path:
    sentences = ["The Cedar Bridge was finished in 1911 .", "It took `` four '' years .", "It has two lanes ."]
    passage = {"title": "Cedar Bridge", "text": f"{' '.join(sentences)} ", "sentences": sentences}
    outputs = [{"answer": "In 1911.", "selected_sentences": sentences[:n]} for n in (1, 2)]
    write_lines(folder / "answerable.jsonl", [{"input": "when was it done", "passages": [passage], "output": outputs}])
    other = {"title": "Bakery", "text": BAKERY, "sentences": [BAKERY]}
    write_lines(folder / "unanswerable.jsonl", [{"input": "who won", "passages": [other], "output": []}])
    return folder


def write_wice(folder: Path) -> Path:
    lines = ["(meta data) TITLE: Town guide", " The bridge is old. So is the mill.", "", "It has two lanes."]
    claims = [
        {"claim": "The bridge has two lanes.", "label": "supported", "supporting_sentences": [[1, 3], [0]]},
        {"claim": "The bridge is made of glass.", "label": "not_supported", "supporting_sentences": [[]]},
    ]
    rows = [{**claim, "evidence": lines, "meta": {"claim_title": "Bridges"}} for claim in claims]
    rows[1]["evidence"] = lines[1:]
    write_lines(folder / "claims.jsonl", rows)
    return folder


def write_rgb(folder: Path) -> Path:
    english = {
        "query": "When was the Cedar Bridge finished?",
        "answer": [["1911", "MCMXI"]],
        "positive": [BRIDGE, "A plaque on it says mcmxi. It was finished in 1911."],
        "positive_wrong": [BRIDGE, "A plaque on it says 1811."],
        "negative": [BAKERY, BAKERY],
    }
    chinese = {
        "query": "雪松桥连接哪两个地方？",
        "answer": ["米尔顿", "格尔岛"],
        "positive": ["雪松桥连接米尔顿和格尔岛。桥上有两条车道。"],
        "positive_wrong": ["雪松桥连接米尔顿和奥克兰。"],
        "negative": [],
    }
    write_lines(folder / "en_fact.jsonl", [english])
    write_lines(folder / "zh_fact.jsonl", [chinese])
    return folder


HOPS: dict[str, Any] = {
    "question": "In which year was the bridge at the town of the rye bakery finished?",
    "answer": "1911",
    "type": "bridge",
    "supporting_facts": {"title": ["Mill Lane", "Cedar Bridge"], "sent_id": [1, 0]},
    "context": {
        "title": ["Cedar Bridge", "Mill Lane"],
        "sentences": [["It was finished in 1911.", " It has two lanes."], ["A bakery.", " Its town is Milton."]],
    },
}


def write_hotpotqa(folder: Path) -> Path:
    write(folder / "distractor.json", json.dumps([HOPS, {**HOPS, "answer": "yes", "type": "comparison"}]))
    return folder


def write_financebench(folder: Path) -> Path:
    page = "Balance sheet\n\nCash was $12 million.\n\nDebt was $30 million.\n\nShares were sold."
    pages = [
        {
            "evidence_text": text,
            "doc_name": "ACME_2021_10K",
            "evidence_page_num": number,
            "evidence_text_full_page": full,
        }
        for text, number, full in (
            ("Cash was $12 million.\n\nDebt was $30 million.", 4, page),
            ("Sales grew.", 9, "Sales grew."),
        )
    ]
    row = {"financebench_id": "financebench_id_1", "question": "What was the cash?", "answer": "$12 million"}
    write_lines(folder / "questions.jsonl", [{**row, "question_type": "metrics-generated", "evidence": pages}])
    return folder


def write_all(folder: Path) -> Path:
    for write_set in (write_xquad, write_clapnq, write_wice, write_rgb, write_hotpotqa, write_financebench):
        write_set(folder / write_set.__name__.removeprefix("write_"))
    return folder


KILN = "The kiln cools for nine hours before its door is opened."


def write_manuals(folder: Path) -> Path:
    """Two manuals of a page each, and three questions: one with an alternative, a follow-up, and an unanswerable."""
    left = "The door of the kiln opens to the left."
    glaze = "Wait nine hours until the kiln is cold."
    page = f"<html><head><title>Firing</title></head><body><h1>Firing</h1><p>{KILN}</p><p>{left}</p></body></html>"
    write(folder / "kiln" / "firing.html", page)
    write(folder / "glaze" / "index.rst", f"Glaze\n=====\n\n{glaze} Glazes are stirred daily.\n")
    write(folder / "kiln" / "style.css", "p { margin: 0 }")
    for name in ("Bakery", "Ferry", "Museum", "Orchard", "Tannery", "Quarry"):
        text = f"The {name.lower()} opens on weekdays. Visitors of the {name.lower()} are asked to ring the bell."
        write(folder / "town" / f"{name.lower()}.html", f"<html><head><title>{name}</title></head><p>{text}</p></html>")
    first = "For how many hours does the kiln cool before its door is opened?"
    alternative = {"file": "glaze/index.rst", "text": glaze, "alternative": True}
    rows: list[dict[str, Any]] = [
        {"question": first, "kind": "value", "answers": ["nine"], "evidence": [
            {"file": "kiln/firing.html", "text": KILN}, alternative,
        ]},
        {"question": "To which side does its door open?", "kind": "followup", "answers": ["left"], "history": [first],
         "all_of": [["left"], ["door", "gate"]], "evidence": [{"file": "kiln/firing.html", "text": left}]},
        {"question": "What does a kiln cost?", "kind": "unanswerable", "answers": [], "evidence": []},
    ]  # fmt: skip
    write_lines(folder / "questions.jsonl", [{"id": f"q{n}", "lang": "en", **row} for n, row in enumerate(rows, 1)])
    return folder
