

def test_bounds_of_an_overlapped_tile_of_a_fused_loop() -> None:
    tile = AffineExpr.dimension(0) % 9
    start = tile * 4 + (tile // 8) * -1
    assert bounds(start, [5040]) == (0, 31)
    assert bounds(start + AffineExpr.dimension(1), [5040, 4]) == (0, 34)
