"""Files that stand for those of UIO and u-dma-buf."""

from pathlib import Path

from merp.cosim.board.uio import UioDevice


def device_files(folder: Path, address: int, size: int) -> UioDevice:
    """Write the files of a device into a folder, and return the device, which polls."""
    described = folder / "class" / "udmabuf0"
    described.mkdir(parents=True)
    (described / "phys_addr").write_text(f"{address:#018x}\n")
    (described / "size").write_text(f"{size}\n")
    (folder / "udmabuf0").write_bytes(bytes(size))
    (folder / "uio0").write_bytes(bytes(4096))
    files = (str(folder / name) for name in ("uio0", "udmabuf0"))
    return UioDevice(*files, interrupt=False, buffers=str(folder / "class"))
