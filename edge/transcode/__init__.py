"""JSON ⇄ messages, compiled from the descriptors at start-up: one function per message.

A request is refused with the property that is wrong, as `Malformed` inside and InvalidArgument outside.
"""

from edge.transcode.answers import Encode, encoder_of
from edge.transcode.requests import Decode, decoder_of

__all__ = ["Decode", "Encode", "decoder_of", "encoder_of"]
