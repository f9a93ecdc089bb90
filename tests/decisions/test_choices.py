"""Choices of a module: demanded ones, those that passes note, and their file."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.parser import Parser

from clopt import CloptError
from clopt.context import CloptContext
from clopt.decisions import Site, SiteKind, deciding, demand
from clopt.decisions.choice_file import HEADER, choices_text, read_choices
from clopt.decisions.choices import choice_of, choices_of, remark_unmatched
from clopt.dialects.nn import LayoutAttr
from clopt.dialects.remarks import remarks_of

FORM = Site(SiteKind.FORM, "0123456789abcdef")
LAYOUT = Site(SiteKind.LAYOUT, "fedcba9876543210")
WORDS = ("direct", "winograd 2", "winograd 4")


def given(tmp_path: Path, *lines: str) -> ModuleOp:
    """A module that demands the choices of a file."""
    path = tmp_path / "net.choices"
    path.write_text("\n".join([HEADER, *lines]))
    module = ModuleOp([])
    demand(module, read_choices(path))
    return module


def decided(module: ModuleOp, *digests: str) -> list[str]:
    """What a pass chooses for convolutions with these digests, usually direct ones."""
    with deciding(module) as choices:
        assert choices is not None
        sites = [choices.next_site(SiteKind.FORM, digest) for digest in digests]
        return [choices.decide(site, "direct", WORDS, f"conv {site.number}") for site in sites]


def text_of(module: ModuleOp) -> str:
    return choices_text(choices_of(module) or ())


def test_a_module_that_asks_for_nothing_gets_no_notes() -> None:
    module = ModuleOp([])
    with deciding(module) as choices:
        assert choices is None
    assert not module.attributes


def test_equal_sites_share_a_choice_or_have_numbers(tmp_path: Path) -> None:
    module = given(tmp_path, "form a#2 winograd 4", "form b winograd 2")
    found = decided(module, "a", "b", "a", "c", "b", "a")
    assert found == ["direct", "winograd 2", "winograd 4", "direct", "winograd 2", "direct"]
    assert text_of(module) == (
        "clopt-choices 1\n# conv 1\nform a#1 direct\n# conv 2\nform a#2 winograd 4\n"
        "# conv 3\nform a#3 direct\n# conv 1\nform b winograd 2\n# conv 1\nform c direct\n"
    )


def test_a_number_comes_before_all(tmp_path: Path) -> None:
    module = given(tmp_path, "form a winograd 2", "form a#3 winograd 4")
    assert decided(module, "a", "a", "a") == ["winograd 2", "winograd 2", "winograd 4"]


def test_what_was_chosen_gives_the_same_choices(tmp_path: Path) -> None:
    module = given(tmp_path, "form a#2 winograd 4")
    decided(module, "a", "a", "b")
    again = given(tmp_path, *text_of(module).splitlines()[1:])
    assert decided(again, "a", "a", "b") == ["direct", "winograd 4", "direct"]
    assert text_of(again) == text_of(module)


def test_choices_of_several_passes_come_in_their_order(tmp_path: Path) -> None:
    module = given(tmp_path, "plan 00 fast", f"{LAYOUT} plain", "form a winograd 2")
    decided(module, "a")
    with deciding(module) as choices:
        assert choices is not None
        assert choices.demanded(LAYOUT) == StringAttr("plain")
        choices.note(LAYOUT, LayoutAttr([(1, 4)]), "relu")
    kinds = [each.kind.data for each in choices_of(module) or ()]
    assert kinds == ["form", "layout", "plan"]
    assert f"# relu\n{LAYOUT} #nn.layout<[1 by 4]>\n" in text_of(module)


def test_demands_that_no_pass_meets_are_remarked(tmp_path: Path) -> None:
    module = given(tmp_path, "form a direct", "form a#2 direct", *(f"plan {n} x" for n in range(5)))
    decided(module, "a")
    remark_unmatched(module, "net.choices")
    (remark,) = remarks_of(module)
    assert remark.startswith(
        "net.choices: nothing is decided here for form a#2, plan 0, plan 1, plan 2 and 2 more; the"
    )


def test_another_word_is_refused(tmp_path: Path) -> None:
    module = given(tmp_path, "form a winograd 3")
    with pytest.raises(CloptError) as caught:
        decided(module, "a")
    assert str(caught.value) == (
        "the choice form a winograd 3 does not fit conv 1: it is direct or winograd 2 or "
        "winograd 4."
    )


def test_choices_survive_the_text_of_a_module() -> None:
    module = ModuleOp([])
    nodes = 'a "name" in ユニコード'
    demand(
        module,
        [choice_of(FORM, StringAttr("direct"), nodes), choice_of(LAYOUT, LayoutAttr([(1, 4)]))],
    )
    again = Parser(CloptContext(), str(module)).parse_module()
    assert text_of(again) == text_of(module)
    assert [each.is_taken for each in choices_of(again) or ()] == [True, False]


def test_the_last_line_counts_and_comments_do_not(tmp_path: Path) -> None:
    module = given(tmp_path, "form a direct", "", "  # faster", "form  a   winograd 4 ")
    assert decided(module, "a") == ["winograd 4"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("form a", "net.choices:3: a line needs a kind of decision, a digest and a choice."),
        (
            "shape a b",
            "net.choices:3: shape is not a kind of decision; the kinds are form, layout,",
        ),
        ("form a#0 direct", "net.choices:3: a#0 must end with #1, #2 and so on."),
        ("plan a #tir.plan<", "net.choices:3: neither a plan nor a layout: #tir.plan<."),
        ('plan a #tir.scope<global>, b = "x"', "net.choices:3: neither a plan nor a layout: #tir"),
    ],
)
def test_mistakes_name_their_line(tmp_path: Path, line: str, sentence: str) -> None:
    with pytest.raises(CloptError) as caught:
        given(tmp_path, "", line)
    assert sentence in str(caught.value)


def test_a_file_needs_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "net.choices"
    path.write_text("form a direct\n")
    with pytest.raises(CloptError, match=r'choices:1: the first line .* must be "clopt-choices 1"'):
        read_choices(path)
    with pytest.raises(CloptError, match=r"Cannot read .*none: No such"):
        read_choices(tmp_path / "none")


def test_a_choice_in_the_ir_needs_a_kind() -> None:
    text = 'module attributes {cl.choices = [#cl.choice<"shape", "a", "b", "", []>]} {}'
    module = Parser(CloptContext(), text).parse_module()
    with pytest.raises(CloptError, match="shape is not a kind of decision"), deciding(module):
        pass
