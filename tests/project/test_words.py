"""Names and phrases that do not belong in this project."""

import ast
import re

from tests.project.sources import FOLDERS, ROOT, list_python, parse, shown

EMPTY_NAMES = {"base", "common", "helper", "helpers", "manager", "misc", "service", "util", "utils"}
SUFFIXES = {".cfg", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yml", ".yaml", ""}
# Put together here, so that this file does not hold what it looks for.
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|tmp|root|home/[a-z]+)/\w")
MARKETING = re.compile(
    r"\b(blazing(ly)?|effortless(ly)?|seamless(ly)?|powerful|cutting-edge|world-class|best-in-class)\b", re.IGNORECASE
)

# Words that only translated sentences use here.
TRANSLATED = re.compile(
    r"\b(for who|anew|told|tells? (of|what|which|how)|mend(s|ed|ing)?|regrets?|stands? (in|for|above|below)|goes on"
    r"|nobody|whoever|kept|of (its|their) own(?! \w)|be had|whatever|wherein|thereof|insofar|whilst|amongst|hence"
    r"|moreover|furthermore|utili[sz]e|in order to|please note|simply|obviously|what no|who is no)\b",
    re.IGNORECASE,
)
MAX_SENTENCE_WORDS = 40


def _list_text():
    roots = [ROOT / folder for folder in FOLDERS] + [ROOT / ".ci"]
    files = [path for root in roots for path in root.rglob("*") if path.is_file() and not _is_hidden(path)]
    files += [path for path in ROOT.iterdir() if path.is_file()]
    return sorted(path for path in files if path.suffix in SUFFIXES and path.name not in ("LICENSE", ".git"))


def _is_hidden(path):
    return any(part == "__pycache__" or part.endswith("_cache") for part in path.parts)


def _lines_with(pattern, paths):
    return [
        f"{shown(path)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def test_every_file_is_named_by_a_meaningful_noun():
    vague = [shown(path) for path in list_python() if EMPTY_NAMES & {path.stem, *path.relative_to(ROOT).parts}]

    assert vague == []


def test_comments_contain_no_todo():
    assert _lines_with(UNFINISHED, list_python()) == []


def test_no_file_knows_the_machine_that_it_was_written_on():
    assert _lines_with(MACHINE_PATH, _list_text()) == []


def test_only_runtime_hands_work_to_threads():
    """In asyncio's own threads, one kind of slow work delays all others. The realtime worker's loop is its own."""
    lines = _lines_with(re.compile(r"\b(to_thread|run_in_executor)\("), list_python("src"))

    assert [line for line in lines if "/embedded/realtime_" not in line] == []


def test_only_the_error_boundary_has_a_broad_except():
    """Only ``apps``, plans and what queries networks swallow it; other handlers raise the same again."""
    broad = [
        f"{shown(path)}:{node.lineno}"
        for path in list_python("src")
        if "/apps/" not in shown(path)
        and not shown(path).endswith(
            ("plan/execution.py", "plan/user_tools.py", "networks/querying.py", "networks/composite.py")
        )
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and not _raises_again(node)
    ]

    assert broad == []


def _raises_again(handler):
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _is_broad(caught):
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(name is None or getattr(name, "id", "") in ("Exception", "BaseException") for name in names)


def test_prose_does_not_advertise():
    paths = [path for path in _list_text() if path.suffix in (".md", ".py") and path.name != "test_words.py"]

    assert _lines_with(MARKETING, paths) == []


def test_prose_uses_the_words_of_engineers():
    documents = [path for path in _list_text() if path.suffix == ".md"]

    assert _lines_with(TRANSLATED, [*documents, *list_python("src")]) == []


def test_sentences_can_be_read_aloud():
    """Tables, code and generated pages are left out."""
    documents = [path for path in _list_text() if path.suffix == ".md" and "reference" not in path.parts]
    long = [
        f"{shown(path)}: {sentence}"
        for path in documents
        for line in re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S).splitlines()
        if not line.startswith(("|", "    "))
        for sentence in re.split(r"(?<=[.!?]) ", line)
        if len(sentence.split()) > MAX_SENTENCE_WORDS
    ]

    assert long == []
