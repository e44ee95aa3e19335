"""A folder with an encoder of a few numbers: the files of the published one, made in a moment."""

import json

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from attnlib.lessons.real_encoder import config, encoder

SIZES = {
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_size": 6,
    "intermediate_size": 8,
    "max_position_embeddings": 7,
    "type_vocab_size": 2,
    "vocab_size": 9,
    "layer_norm_eps": 1e-12,
}
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "one", "two", "##s", "three")


def write(folder, seed=7):
    """Write config.json, tokenizer.json and model.safetensors with seeded weights."""
    (folder / "config.json").write_text(json.dumps(SIZES))
    _tokenizer().save(str(folder / "tokenizer.json"))
    draw = np.random.default_rng(seed).standard_normal
    shapes = encoder.shapes(config.read(folder / "config.json"))
    save_file({name: draw(shape) for name, shape in shapes.items()}, folder / "model.safetensors")
    return folder


def change_tensors(folder, change):
    """Save the weights again after a change made to their dict."""
    path = folder / "model.safetensors"
    # A copy: what is loaded may still be mapped from the file that is written now.
    tensors = {name: array.copy() for name, array in load_file(path).items()}
    change(tensors)
    save_file(tensors, path)


def change_sizes(folder, **changes):
    """Save config.json again with other entries; None takes one out."""
    path = folder / "config.json"
    sizes = json.loads(path.read_text()) | changes
    kept = {name: size for name, size in sizes.items() if size is not None}
    path.write_text(json.dumps(kept))


def _tokenizer():
    numbers = {word: number for number, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.add_special_tokens(list(VOCABULARY[:4]))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # As in the published file: unless it is switched off, every sentence has one length.
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    return tokenizer
