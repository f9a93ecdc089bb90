"""Our walk gives the operations of regions in xDSL's order."""

from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Region

from clopt.dialects.walking import operations_in


def nested(*regions: Region) -> TestOp:
    return TestOp(regions=regions)


def region(*ops: TestOp) -> Region:
    return Region(Block(ops))


def tree() -> TestOp:
    deep = nested(region(TestOp(), nested(region(TestOp())), TestOp()), region())
    two_blocks = nested(Region([Block([TestOp(), TestOp()]), Block(), Block([TestOp()])]))
    return nested(region(TestOp(), deep, two_blocks), region(TestOp()))


def test_the_order_is_that_of_the_text() -> None:
    op = tree()
    assert [*operations_in(*op.regions)] == [*op.walk()][1:]
    assert [*operations_in(op.regions[1])] == [*op.regions[1].walk()]
    assert not [*operations_in()]


def test_the_operation_at_hand_may_be_erased() -> None:
    op = tree()
    count = 0
    for inner in operations_in(*op.regions):
        count += 1
        if not inner.regions:
            inner.detach()
    assert count == len([*tree().walk()]) - 1
    assert all(inner.regions for inner in op.walk())
