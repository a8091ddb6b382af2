"""XQuAD (Artetxe et al. 2020): SQuAD-shaped paragraphs and questions in parallel translations."""

import json
from dataclasses import dataclass
from pathlib import Path

from graph.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class XQuADQuestion:
    """A question, the index of the paragraph that answers it, and the answers as they stand there."""

    text: str
    paragraph: int
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class XQuAD:
    """The paragraphs of one language, the article of each, and the questions."""

    paragraphs: tuple[str, ...]
    articles: tuple[str, ...]
    questions: tuple[XQuADQuestion, ...]


def load_xquad(path: Path) -> XQuAD:
    """Read one language's file. Raises InvalidRequest where it is not of SQuAD's shape."""
    paragraphs: list[str] = []
    articles: list[str] = []
    questions: list[XQuADQuestion] = []
    try:
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    answers = tuple(answer["text"].strip() for answer in asked["answers"])
                    questions.append(XQuADQuestion(asked["question"], len(paragraphs), answers))
                paragraphs.append(paragraph["context"])
                articles.append(article["title"])
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidRequest(f"{path} is no XQuAD file: {error!r}.") from error
    return XQuAD(tuple(paragraphs), tuple(articles), tuple(questions))
