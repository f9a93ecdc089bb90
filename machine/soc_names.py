"""Systems on a chip (SoCs) that contain a target's GPU; phones are known by these names."""

from __future__ import annotations

from collections.abc import Mapping

SOC_NAMES: Mapping[str, tuple[str, ...]] = {
    "adreno-610": (
        *("snapdragon-662", "sm6115", "snapdragon-665", "sm6125", "snapdragon-680", "sm6225"),
    ),
    "adreno-618": (
        *("snapdragon-720g", "sm7125", "snapdragon-730", "sm7150", "snapdragon-690", "sm6350"),
        *("snapdragon-750g", "sm7225", "snapdragon-695", "sm6375", "snapdragon-765", "sm7250"),
    ),
    "adreno-630": ("snapdragon-845", "sdm845"),
    "adreno-640": ("snapdragon-855", "sm8150"),
    "adreno-643": ("qcm6490", "qcs6490"),
    "adreno-650": ("snapdragon-865", "snapdragon-870", "sm8250"),
    "adreno-660": ("snapdragon-888", "sm8350"),
    "adreno-680": ("snapdragon-8cx", "sc8180x"),
    "adreno-690": ("snapdragon-8cx-gen-3", "sc8280xp"),
    "adreno-730": ("snapdragon-8-gen-1", "sm8450", "snapdragon-8-plus-gen-1", "sm8475"),
    "adreno-740": ("snapdragon-8-gen-2", "sm8550", "qcs8550"),
    "adreno-750": ("snapdragon-8-gen-3", "sm8650"),
    "adreno-830": ("snapdragon-8-elite", "sm8750"),
    "adreno-840": ("snapdragon-8-elite-gen-5", "sm8850"),
    "adreno-x1-85": ("snapdragon-x-elite", "x1e80100"),
}
"""SoC names by target: names on Qualcomm's product pages and part numbers, in lower case."""

TARGET_OF_SOC: Mapping[str, str] = {soc: name for name, socs in SOC_NAMES.items() for soc in socs}
"""The target of each SoC."""
