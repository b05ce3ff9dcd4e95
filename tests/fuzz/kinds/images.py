"""Damage photographs."""

import struct
import zlib
from io import BytesIO
from pathlib import Path
from random import Random

from PIL import Image

import mutate
from harness import faults, nothing_simulated
from kinds.networks import NET, NETWORK


def images(random: Random) -> list[str]:
    """Try a photograph that is changed, or has another size."""
    picture = Image.new(random.choice(("L", "RGB", "RGBA", "P", "1")), (9, 7), random.randrange(2))
    stream = BytesIO()
    kind = random.choice(("PNG", "BMP", "GIF", "TIFF", "PPM", "JPEG"))
    (picture.convert("RGB") if kind in ("JPEG", "PPM") else picture).save(stream, kind)
    written = stream.getvalue()
    if random.randrange(5) == 0:
        sizes = (0, 1, 8193, 60_000, (1 << 31) - 1, (1 << 32) - 1)
        head = struct.pack(">IIBBBBB", random.choice(sizes), random.choice(sizes), 8, 2, 0, 0, 0)
        checked = b"IHDR" + head
        written = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + checked
        written += struct.pack(">I", zlib.crc32(checked)) + b"\0\0\0\0IEND\xaeB`\x82"
    path = Path("in/picture")
    path.write_bytes(mutate.content(random, written) if random.randrange(8) else written)
    NET.write_text(NETWORK)
    with nothing_simulated():
        return faults(["simulate", str(NET), "--image", str(path)])
