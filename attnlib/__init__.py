"""One unmasked scaled dot-product self-attention head, forward and backward, open to the eye.

The public names of `attnlib.core`; nothing here draws.
"""

from attnlib.core.errors import SelfAttentionError
from attnlib.core.gradcheck import GradientCheck, gradient_check
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.core.records import SelfAttentionForward, SelfAttentionGradients
from attnlib.core.streaming import StreamingSelfAttention, streaming_self_attention
from attnlib.core.tape import Tensor

__all__ = [
    "GradientCheck",
    "SelfAttentionError",
    "SelfAttentionForward",
    "SelfAttentionGradients",
    "StreamingSelfAttention",
    "Tensor",
    "gradient_check",
    "scaled_dot_product_self_attention",
    "streaming_self_attention",
]
