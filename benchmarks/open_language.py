"""Networks over tokens, as their papers define them, with open batches and lengths."""

from __future__ import annotations

import torch
from open_networks import Draw, OpenNetwork
from torch import Tensor, nn
from torch.nn import functional as F


class Bert(nn.Module):
    """Embeddings, an additive mask, an encoder layer, and a pooled head (Devlin et al., 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(100, 32), nn.Embedding(64, 32)
        self.kinds, self.norm = nn.Embedding(2, 32), nn.LayerNorm(32, eps=1e-12)
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.norms = nn.ModuleList(nn.LayerNorm(32) for _ in range(2))
        self.wide, self.narrow = nn.Linear(32, 64), nn.Linear(64, 32)
        self.pool = nn.Linear(32, 32)

    def forward(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor]:
        batch, length = ids.shape
        positions = self.positions(torch.arange(length).unsqueeze(0))
        x = self.norm(self.words(ids) + positions + self.kinds(kinds))
        q, k, v = (
            each.view(batch, length, 4, 8).transpose(1, 2) for each in self.qkv(x).split(32, -1)
        )
        added = (1.0 - mask[:, None, None, :].float()) * torch.finfo(torch.float32).min
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=added)
        found = found.transpose(1, 2).reshape(batch, length, 32)
        x = self.norms[0](x + self.out(found))
        x = self.norms[1](x + self.narrow(F.gelu(self.wide(x))))
        return x, torch.tanh(self.pool(x[:, 0]))


class Gpt(nn.Module):
    """New tokens after a cache of keys and values (GPT-2, Radford et al., 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(100, 32), nn.Embedding(128, 32)
        self.norm, self.last = nn.LayerNorm(32), nn.LayerNorm(32)
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.wide, self.narrow = nn.Linear(32, 64), nn.Linear(64, 32)

    def forward(
        self, ids: Tensor, past_keys: Tensor, past_values: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        batch, length = ids.shape
        past = past_keys.shape[2]
        x = self.tokens(ids) + self.positions(torch.arange(past, past + length))
        q, k, v = (
            each.view(batch, length, 4, 8).transpose(1, 2)
            for each in self.qkv(self.norm(x)).chunk(3, -1)
        )
        keys, values = torch.cat([past_keys, k], 2), torch.cat([past_values, v], 2)
        scores = q @ keys.transpose(2, 3) / 8**0.5
        seen = torch.ones(past + length, past + length, dtype=torch.bool).tril()[past:]
        scores = torch.where(seen, scores, torch.finfo(torch.float32).min)
        found = (scores.softmax(-1) @ values).transpose(1, 2).reshape(batch, length, 32)
        x = x + self.out(found)
        x = x + self.narrow(F.gelu(self.wide(self.last(x)), approximate="tanh"))
        return x @ self.tokens.weight.T, keys, values


class RootMeanSquare(nn.Module):
    """Normalisation without means (Zhang and Sennrich, 2019)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(channels))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Llama(nn.Module):
    """Rotary positions, two queries for each key, and a gated layer (Touvron et al., 2023)."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.first, self.second = (
            nn.Embedding(100, 32),
            RootMeanSquare(32),
            RootMeanSquare(32),
        )
        self.q, self.kv = nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False)
        self.out, self.gate = nn.Linear(32, 32, bias=False), nn.Linear(32, 128, bias=False)
        self.down, self.head = nn.Linear(64, 32, bias=False), nn.Linear(32, 100, bias=False)
        self.register_buffer("frequencies", 1e4 ** (-torch.arange(0, 8, 2) / 8))

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        batch, length = ids.shape
        x = self.tokens(ids)
        y = self.first(x)
        angles = positions[..., None].float() * self.frequencies
        angles = torch.cat([angles, angles], -1).unsqueeze(1)
        q = self._rotated(self.q(y).view(batch, length, 4, 8).transpose(1, 2), angles)
        k, v = self.kv(y).view(batch, length, 2, 2, 8).permute(3, 0, 2, 1, 4)
        k = self._rotated(k, angles)
        k, v = (
            each[:, :, None].expand(-1, -1, 2, -1, -1).reshape(batch, 4, length, 8)
            for each in (k, v)
        )
        found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(found.transpose(1, 2).reshape(batch, length, 32))
        gate, up = self.gate(self.second(x)).chunk(2, -1)
        return self.head(x + self.down(F.silu(gate) * up))

    @staticmethod
    def _rotated(x: Tensor, angles: Tensor) -> Tensor:
        turned = torch.cat([-x[..., 4:], x[..., :4]], -1)
        return x * angles.cos() + turned * angles.sin()


class T5(nn.Module):
    """An encoder and a decoder with learned biases of distances (Raffel et al., 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.bias = nn.Embedding(100, 32), nn.Embedding(16, 4)
        self.norm = RootMeanSquare(32)
        self.encode, self.decode, self.cross = (nn.Linear(32, 96) for _ in range(3))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        x, y = self.tokens(source), self.tokens(target)
        q, k, v = self.encode(self.norm(x)).chunk(3, -1)
        x = x + self._attended(q, k, v, self._biases(x.shape[1], True))
        q, k, v = self.decode(self.norm(y)).chunk(3, -1)
        length = y.shape[1]
        causal = torch.full((length, length), -1e9).triu(1)
        y = y + self._attended(q, k, v, self._biases(length, False) + causal)
        q, (_, k, v) = self.cross(self.norm(y))[..., :32], self.cross(x).chunk(3, -1)
        y = y + self._attended(q, k, v, torch.zeros(1))
        return y @ self.tokens.weight.T

    def _biases(self, length: int, is_bidirectional: bool) -> Tensor:
        distance = torch.arange(length)[None] - torch.arange(length)[:, None]
        buckets = torch.zeros_like(distance)
        if is_bidirectional:
            buckets = (distance > 0).long() * 8
            distance = distance.abs()
        else:
            distance = -distance.clamp(max=0)
        wide = 4 + (torch.log(distance.float().clamp(min=1) / 4) / 3.5 * 4).long()
        buckets = buckets + torch.where(distance < 4, distance, wide.clamp(max=7))
        return self.bias(buckets).permute(2, 0, 1)

    @staticmethod
    def _attended(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        q, k, v = (each.unflatten(-1, (4, 8)).transpose(1, 2) for each in (q, k, v))
        return ((q @ k.transpose(2, 3) + bias).softmax(-1) @ v).transpose(1, 2).flatten(2)


class Clip(nn.Module):
    """Similarities of images and texts of two towers (Radford et al., 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.mark = nn.Conv2d(3, 16, 8, 8), nn.Parameter(torch.randn(16))
        self.image = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True, norm_first=True)
        self.tokens = nn.Embedding(100, 16)
        self.text = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True, norm_first=True)

    def forward(self, image: Tensor, text: Tensor) -> Tensor:
        patches = self.patch(image).flatten(2).transpose(1, 2)
        marks = self.mark.expand(patches.shape[0], 1, -1)
        seen = self.image(torch.cat([marks, patches], 1))[:, 0]
        read = self.text(self.tokens(text))
        read = read[torch.arange(read.shape[0]), text.argmax(-1)]
        return 10 * F.normalize(read, dim=-1) @ F.normalize(seen, dim=-1).T


class Tagger(nn.Module):
    """A recurrent tagger over words and their letters (Lample et al., 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.letters = nn.Embedding(100, 16), nn.Embedding(30, 8)
        self.layer = nn.LSTM(24, 16, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, 5)

    def forward(self, words: Tensor, letters: Tensor) -> tuple[Tensor, Tensor]:
        spelled = self.letters(letters).max(2).values
        found, _ = self.layer(torch.cat([self.words(words), spelled], -1))
        scores = self.out(found).log_softmax(-1)
        return scores, scores.argmax(-1)


class Attending(nn.Module):
    """A recurrent encoder, and a decoder that attends to it (Luong et al., 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(50, 16)
        self.encoder = nn.GRU(16, 16, batch_first=True)
        self.decoder = nn.GRU(16, 16, batch_first=True)
        self.out = nn.Linear(32, 50)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory, state = self.encoder(self.tokens(source))
        found, _ = self.decoder(self.tokens(target), state)
        context = (found @ memory.transpose(1, 2)).softmax(-1) @ memory
        return self.out(torch.tanh(torch.cat([found, context], -1)))


class TextConvolution(nn.Module):
    """Convolutions of three widths over words, each with its maximum (Kim, 2014)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(100, 16)
        self.layers = nn.ModuleList(nn.Conv1d(16, 8, width) for width in (2, 3, 4))
        self.out = nn.Linear(24, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens).transpose(1, 2)
        return self.out(torch.cat([torch.relu(each(x)).amax(2) for each in self.layers], 1))


class Bag(nn.Module):
    """A classifier of the mean of embeddings (Joulin et al., 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(100, 16, padding_idx=0), nn.Linear(16, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        counted = (tokens != 0).float().unsqueeze(-1)
        return self.out((self.words(tokens) * counted).sum(1) / counted.sum(1)).softmax(-1)


def _tokens(draw: Draw, batch: int, length: int, most: int = 100) -> Tensor:
    return torch.randint(1, most, (batch, length))


def _bert(draw: Draw) -> dict[str, Tensor]:
    batch, length = draw(2, 4), draw(4, 40)
    mask = (torch.arange(length) < length - 2).long().expand(batch, -1)
    ids = _tokens(draw, batch, length)
    return {"ids": ids, "mask": mask.contiguous(), "kinds": (ids > 50).long()}


def _gpt(draw: Draw) -> dict[str, Tensor]:
    batch, past = draw(2, 4), torch.randn(2, draw(2, 4), 4, draw(2, 30), 8)
    batch = past.shape[1]
    ids = _tokens(draw, batch, draw(2, 20))
    return {"ids": ids, "past_keys": past[0], "past_values": past[1]}


def _llama(draw: Draw) -> dict[str, Tensor]:
    ids = _tokens(draw, draw(2, 4), draw(3, 40))
    return {"ids": ids, "positions": torch.arange(ids.shape[1]).expand_as(ids).contiguous()}


def _pair(draw: Draw) -> dict[str, Tensor]:
    batch = draw(2, 4)
    return {name: _tokens(draw, batch, draw(2, 24), 50) for name in ("source", "target")}


def _clip(draw: Draw) -> dict[str, Tensor]:
    image = torch.randn(draw(2, 4), 3, 8 * draw(2, 5), 8 * draw(2, 5))
    return {"image": image, "text": _tokens(draw, draw(2, 5), draw(3, 20))}


def _spelled(draw: Draw) -> dict[str, Tensor]:
    batch, length = draw(2, 4), draw(2, 12)
    letters = torch.randint(0, 30, (batch, length, draw(2, 9)))
    return {"words": _tokens(draw, batch, length), "letters": letters}


def _text(draw: Draw) -> dict[str, Tensor]:
    return {"tokens": _tokens(draw, draw(2, 4), draw(4, 40))}


_CACHE = tuple(f"past_{name}.{axis}" for name in ("keys", "values") for axis in (1, 3))

LANGUAGE: dict[str, OpenNetwork] = {
    "BERT": OpenNetwork(Bert, _bert),
    "GPT-2 with a cache": OpenNetwork(Gpt, _gpt, _CACHE),
    "Llama": OpenNetwork(Llama, _llama),
    "T5": OpenNetwork(T5, _pair),
    "CLIP": OpenNetwork(Clip, _clip, ("image.1",)),
    "LSTM tagger": OpenNetwork(Tagger, _spelled),
    "GRU seq2seq": OpenNetwork(Attending, _pair),
    "TextCNN": OpenNetwork(TextConvolution, _text),
    "fastText": OpenNetwork(Bag, _text),
}
