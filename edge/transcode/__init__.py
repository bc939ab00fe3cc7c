"""Maps JSON to messages and back, compiled from the descriptors at start: one function per message.

An invalid request is refused with the path of the property, as `Malformed` inside and InvalidArgument outside.
"""

from edge.transcode.answers import Encode, encoder_of
from edge.transcode.requests import Decode, decoder_of
from edge.transcode.rows import ItemRows, item_of, page_encoder_of

__all__ = ["Decode", "Encode", "ItemRows", "decoder_of", "encoder_of", "item_of", "page_encoder_of"]
