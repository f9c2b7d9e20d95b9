"""What the bytes of a file are, by looking at them: names and attributes can be chosen, content can't."""

from __future__ import annotations

import codecs
import re

LOOKED_AT = 8192
"""Bytes at the start of a file that decide what it is; git looks at as many."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"BM", "BMP image"),
    (b"\0\0\1\0", "icon"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"\x1aE\xdf\xa3", "Matroska or WebM video"),
    (b"ID3", "MP3 audio"),
    (b"OggS", "Ogg audio or video"),
    (b"fLaC", "FLAC audio"),
    (b"%PDF-", "PDF document"),
    (b"PK\3\4", "ZIP archive, wheel or torch checkpoint"),
    (b"PK\5\6", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"\x7fELF", "compiled library or program"),
    (b"MZ", "Windows library or program"),
    (b"\xcf\xfa\xed\xfe", "macOS library or program"),
    (b"\x93NUMPY", "numpy array"),
    (b"PAR1", "Parquet table"),
    (b"\x89HDF", "HDF5 file"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"GGUF", "GGUF checkpoint"),
    (b"ARROW1", "Arrow table"),
    (b"\x80\2", "pickle"),
    (b"\x80\3", "pickle"),
    (b"\x80\4", "pickle"),
    (b"\x80\5", "pickle"),
)
# Two letters that a text may well begin with: they count only where the content is no text.
_WEAK = (b"BM", b"MZ", b"ID3", b"PAR1", b"GGUF", b"BZh", b"%PDF-", b"OggS", b"fLaC", b"ARROW1", b"GIF87a", b"GIF89a")
_BOXES = {b"WEBP": "WebP image", b"WAVE": "WAV audio", b"AVI ": "AVI video"}
_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:[a-z0-9.-]+ .*\n)*size [0-9]+\n")


def kind_of(content: bytes) -> str:
    r"""What a file that is no text holds, in words; empty for text in UTF-8.

    >>> [kind_of(content) for content in (b"\x89PNG\r\n\x1a\n...", "Grüße".encode(), b"a\0b", "ä".encode("latin-1"))]
    ['PNG image', '', 'binary data', 'text that is not UTF-8']
    """
    start = content[:LOOKED_AT]
    binary = b"\0" in start
    readable = not binary and _is_utf8(start, whole=len(content) <= LOOKED_AT)
    for magic, kind in _MAGIC:
        if start.startswith(magic) and not (readable and magic in _WEAK):
            return kind
    if start[:4] == b"RIFF" and start[8:12] in _BOXES:
        return _BOXES[start[8:12]]
    if start[4:8] == b"ftyp":
        return "MP4 or QuickTime video"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "text in UTF-16, which git shows and merges as binary"
    if len(content) > 16 and content[8:10] == b'{"' and binary:
        return "safetensors checkpoint"
    if binary:
        return "binary data"
    return "" if readable else "text that is not UTF-8"


def is_lfs_pointer(content: bytes) -> bool:
    """Whether a file only points to content in Git LFS (git-lfs.github.com/spec/v1)."""
    return len(content) < 1024 and _POINTER.fullmatch(content) is not None


def _is_utf8(start: bytes, *, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=whole)
    except UnicodeDecodeError:
        return False
    return True
