"""XQuAD (Artetxe et al. 2020): SQuAD-shaped paragraphs and questions in parallel translations."""

import json
from dataclasses import dataclass
from pathlib import Path

from evals.cases import Case, DataSet, Document, Span
from evals.sets.set_files import sentences_over
from graph.errors import InvalidRequest

_BYTE_ORDER_MARK = "\ufeff"  # precedes some translations; not part of the stored text


@dataclass(frozen=True, slots=True)
class XQuADQuestion:
    """A question, the index of the paragraph that answers it, and the answers in its wording, with their spans."""

    text: str
    paragraph: int
    answers: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class XQuAD:
    """One language's paragraphs, the article of each, and the questions."""

    paragraphs: tuple[str, ...]
    articles: tuple[str, ...]
    questions: tuple[XQuADQuestion, ...]


def load_xquad(path: Path) -> XQuAD:
    """Read one language's file. Raises InvalidRequest if it does not have SQuAD's format."""
    paragraphs: list[str] = []
    articles: list[str] = []
    questions: list[XQuADQuestion] = []
    try:
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                text = paragraph["context"].removeprefix(_BYTE_ORDER_MARK)
                shift = len(text) - len(paragraph["context"])
                for question in paragraph["qas"]:
                    answers = tuple(answer["text"].strip() for answer in question["answers"])
                    spans = tuple(
                        ((at := answer["answer_start"] + shift), at + len(answer["text"]))
                        for answer in question["answers"]
                    )
                    questions.append(XQuADQuestion(question["question"], len(paragraphs), answers, spans))
                paragraphs.append(text)
                articles.append(article["title"])
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidRequest(f"{path} is not an XQuAD file: {error!r}.") from error
    return XQuAD(tuple(paragraphs), tuple(articles), tuple(questions))


def xquad_set(path: Path) -> DataSet:
    """Read one language's file, or all of a folder as one library; a file's stem is its language.

    For questions asked without their answer, a paragraph is removed together with its translations, since each of them
    contains the answer. Raises InvalidRequest if there is no file or one does not have SQuAD's format.
    """
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise InvalidRequest(f"{path} holds no language's file, such as en.json.")
    languages = {file.stem: load_xquad(file) for file in files}
    documents = {
        (language, index): Document(f"{language}/{index:04d}", f"Paragraph {index}", text)
        for language, data in languages.items()
        for index, text in enumerate(data.paragraphs, 1)
    }
    cases: list[Case] = []
    for language, data in languages.items():
        for number, question in enumerate(data.questions, 1):
            index = question.paragraph + 1
            document = documents[language, index]
            cases.append(
                Case(
                    case_id=f"{language}/{number:04d}",
                    question=question.text,
                    answers=question.answers,
                    evidence=tuple(dict.fromkeys(sentences_over(document, *span) for span in question.spans)),
                    removal=tuple(documents[each, index].name for each in languages if (each, index) in documents),
                    tags={"language": language},
                )
            )
    name = "xquad" if path.is_dir() else f"xquad-{path.stem}"
    return DataSet(name, tuple(documents.values()), tuple(cases))
