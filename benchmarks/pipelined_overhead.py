"""What a parallelized model costs on one process: forward passes against the original's, in pairs.

    nox -s bench -- pipelined_overhead
    python benchmarks/pipelined_overhead.py --pairs 200

The two models share their weights and take turns, which of them begins is drawn by lot, and what counts is the ratio
within each pair in processor time: that is what makes the result hold on a machine that does other things as well.
Prints a table, and fails where the median ratio is above the limit.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from typing import Any

LIMIT = 1.02


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=60, help="forward passes of each kind (default: %(default)s)")
    pairs = parser.parse_args().pairs
    try:
        import torch
    except ModuleNotFoundError:
        print("not run: torch is not installed (pip install 'mergeready[models]')")
        return 0
    torch.set_num_threads(1)
    print(f"{pairs} pairs of forward passes, 4 x 128 tokens, one thread\n")
    print("| model | original, ms | parallelized / original, median | 95 % interval | blocks |")
    print("|---|---|---|---|---|")
    medians = [measure(name, fields, pairs) for name, fields in MODELS.items()]
    print(f"\nworst median {max(medians):.4f}, limit {LIMIT}")
    return int(max(medians) > LIMIT)


MODELS: dict[str, dict[str, Any]] = {
    "BertForMaskedLM": {
        "hidden_size": 256,
        "intermediate_size": 1024,
        "num_attention_heads": 4,
        "num_hidden_layers": 8,
    },
    "GPT2LMHeadModel": {"n_embd": 256, "n_head": 4, "n_layer": 8},
    "T5ForConditionalGeneration": {"d_model": 256, "d_ff": 1024, "num_heads": 4, "num_layers": 4},
    "LlamaForCausalLM": {
        "hidden_size": 256,
        "intermediate_size": 1024,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "num_hidden_layers": 8,
        "vocab_size": 1000,
    },
}


def measure(name: str, fields: dict[str, Any], pairs: int) -> float:
    """Print the row of a model; return the median ratio."""
    import transformers

    from pipelined import IPUConfig, to_pipelined
    from pipelined.blocks import blocks
    from pipelined.sample import sample_batches

    cls = getattr(transformers, name)
    original = cls(cls.config_class(**fields)).eval()
    pipelined = to_pipelined(original, IPUConfig(ipus_per_replica=4)).parallelize()
    inputs = next(sample_batches(original, batch=4, length=128))
    originals, ratios = [], []
    for _ in range(pairs):
        first, second = random.sample([original, pipelined], 2)
        spent = {first: seconds(first, inputs), second: seconds(second, inputs)}
        originals.append(spent[original])
        ratios.append(spent[pipelined] / spent[original])
    low, high = interval(ratios)
    median = statistics.median(ratios)
    milliseconds = statistics.median(originals) * 1000
    print(f"| {name} | {milliseconds:.1f} | {median:.4f} | {low:.4f} to {high:.4f} | {len(blocks(pipelined))} |")
    return median


def seconds(model: Any, inputs: dict[str, Any]) -> float:
    """Processor time of this process for one forward pass."""
    import torch

    begun = time.process_time()
    with torch.no_grad():
        model(**inputs)
    return time.process_time() - begun


def interval(ratios: list[float]) -> tuple[float, float]:
    """Where the median lies with 95 % confidence, by drawing the sample again and again."""
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(1000))
    return medians[25], medians[974]


if __name__ == "__main__":
    sys.exit(main())
