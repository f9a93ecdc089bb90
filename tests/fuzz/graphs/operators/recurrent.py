"""Recurrent networks."""

from __future__ import annotations

from ..builder import GraphBuilder


def _recurrent(g: GraphBuilder, kind: str, gates: int, states: int, **attributes: object) -> None:
    """A node with random direction, biases, lengths and initial states."""
    x = g.pick(rank=(3,), where=lambda shape: shape[0] <= 6)
    steps, batch, width = x.shape
    hidden = g.one_of(1, 2, 3, 4, 5)
    direction = g.one_of("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    lengths = [g.random.randint(1, steps) for _ in range(batch)]
    optional = [
        g.weight(ways, 2 * gates * hidden) if g.chance(0.7) else None,
        g.constant(lengths, "int32") if g.chance(0.3) else None,
        *(g.weight(ways, batch, hidden) if g.chance(0.5) else None for _ in range(states)),
    ]
    if kind == "LSTM" and g.chance(0.3):
        optional.append(g.weight(ways, 3 * hidden))
    g.op(
        kind,
        x,
        g.weight(ways, gates * hidden, width, scale=0.5),
        g.weight(ways, gates * hidden, hidden, scale=0.5),
        *optional,
        outputs=1 + states,
        hidden_size=hidden,
        direction=direction,
        clip=g.one_of(None, None, 0.8),
        **attributes,
    )


def lstm(g: GraphBuilder) -> None:
    """LSTM, at times with peepholes."""
    _recurrent(g, "LSTM", 4, 2)


def gru(g: GraphBuilder) -> None:
    """GRU, its reset gate before or behind the product."""
    _recurrent(g, "GRU", 3, 1, linear_before_reset=g.one_of(0, 1))


def rnn(g: GraphBuilder) -> None:
    """RNN."""
    _recurrent(g, "RNN", 1, 1)


OPERATORS = {
    "lstm": (1, lstm),
    "gru": (1, gru),
    "rnn": (1, rnn),
}
