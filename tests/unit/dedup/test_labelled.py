"""Labelled pairs as people write them down."""

import pytest

from service.dedup.calibration import Pair
from service.dedup.labelled import NotPairs, read_pairs

LINE = '{"a": "x", "b": "y", "duplicate": true}'


def test_lines_of_json_and_rows_of_csv_say_the_same():
    comma = '{"a": "x, y", "b": "y", "duplicate": true, "score": 1}'
    as_json = f"{comma}\n\n{LINE.replace('true', 'false')}"
    as_csv = '\ufeffscore,Duplicate,a,b\r\n1,TRUE,"x, y",y\r\n\r\n,no,x,y\r\n'
    pairs = (Pair("x, y", "y", True), Pair("x", "y", False))
    assert read_pairs(as_json).pairs == read_pairs(as_csv).pairs == pairs


def test_each_pair_knows_the_line_where_it_begins():
    as_csv = 'a;b;duplicate\n"x\nx";y;1\nx;y;0\n'
    assert read_pairs(as_csv).lines == (2, 4)
    assert read_pairs(f"\n{LINE}\r\n\r\n{LINE}").lines == (2, 4)


def test_pairs_that_are_not_labelled_are_counted_and_left_out():
    assert read_pairs(f"{LINE}\n{LINE.replace('true', 'null')}").unlabelled == 1
    assert read_pairs("a,b,duplicate\nx,y,yes\nx,y,\n").unlabelled == 1


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("", "has no labelled pairs"),
        ("a,b,duplicate\n", "has no labelled pairs"),
        (f"{LINE}\n{{", "line 2 is not JSON"),
        ('{"a": "\\ud800", "b": "y", "duplicate": true}', "line 1 is not JSON"),
        (f"{LINE}\n[1]", "line 2 has not a, b and duplicate"),
        ('{"a": 1, "b": "y", "duplicate": true}', "line 1: a and b must be strings"),
        (LINE.replace("true", "1"), "line 1: duplicate must be true, false or null"),
        ("x,y,true\n", "line 1 is neither JSON nor a CSV header with the columns"),
        ("a,a,b,duplicate\n", "line 1 is neither JSON nor a CSV header with the columns"),
        ("a,b,duplicate\nx,y\n", "line 2 has not a, b and duplicate"),
        ("a,b,duplicate\nx,y,maybe\n", "line 2: duplicate must be true, false or empty"),
        ('a,b,duplicate\nx,"y"z,1\n', "line 2 is not CSV"),
        ("a,b,duplicate\nx,y,1\n" + "x" * 140_000, "line 3 is not CSV"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_its_line(written: str, words: str):
    with pytest.raises(NotPairs) as refused:
        read_pairs(written)
    assert str(refused.value).startswith(words)
