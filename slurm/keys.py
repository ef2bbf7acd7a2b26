# SPDX-License-Identifier: GPL-2.0-or-later
"""Ed25519 keys and signatures, in formats that OpenSSL can read.

A signature is one line: `ed25519`, the key's identifier, and the signature in base64. The
identifier is the first 16 hex digits of the SHA-256 of the 32 bytes of the public key.
"""

import base64
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from kadence.base.errors import KadenceError, UsageError

ALGORITHM = "ed25519"
IDENTIFIER_DIGITS = 16
SIGNATURE_BYTES = 64
PUBLIC_SUFFIX = ".pub"
MAKE_ONE = "make a key with `kadence key`"


class SignatureError(KadenceError):
    """A key or a signature is missing, malformed or wrong."""


@dataclass(frozen=True)
class Signature:
    """The parts of a signature's line."""

    signer: str  # identifier of the key
    value: bytes

    def line(self) -> bytes:
        """The line as it is written to a file."""
        encoded = base64.b64encode(self.value).decode("ascii")
        return f"{ALGORITHM} {self.signer} {encoded}\n".encode("ascii")

    @staticmethod
    def parse(line: bytes, name: str) -> "Signature":
        """Read a line strictly; `name` is for the error message."""
        words = line.split(b" ")
        try:
            algorithm, signer, encoded = (word.decode("ascii") for word in words)
            value = base64.b64decode(encoded.removesuffix("\n"), validate=True)
        except ValueError as error:
            raise SignatureError(f"{name} is not a signature's line; sign it anew") from error
        found = Signature(signer, value)
        if algorithm != ALGORITHM or len(value) != SIGNATURE_BYTES or found.line() != line:
            raise SignatureError(f"{name} is not a line of an ed25519 signature; sign it anew")
        return found


def default_path() -> Path:
    """The path of the user's own key."""
    configuration = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(configuration) / "kadence" / "key"


def public_path(path: Path) -> Path:
    """The path of a key's public half, beside the key."""
    return path.with_name(path.name + PUBLIC_SUFFIX)


def identifier(public: Ed25519PublicKey) -> str:
    """The key's identifier in signatures."""
    return hashlib.sha256(public.public_bytes_raw()).hexdigest()[:IDENTIFIER_DIGITS]


def make(path: Path) -> str:
    """Write a new key and its public half; returns its identifier."""
    private = Ed25519PrivateKey.generate()
    files = {
        path: private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        public_path(path): private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
    }
    for file in files:
        if file.exists():
            raise UsageError(f"{file} is there already; name another place with -o")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for (file, content), mode in zip(files.items(), (0o600, 0o644), strict=True):
        _create(file, content, mode)
    return identifier(private.public_key())


def _create(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(content)


def load_private(path: Path) -> Ed25519PrivateKey:
    """Load a private key; SignatureError if other users can read it."""
    content = _content(path)
    if path.stat().st_mode & 0o077:
        raise SignatureError(f"others may read the key {path}; do `chmod 600 {path}`")
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SignatureError(f"{path} is not a private key that can be used; {MAKE_ONE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise SignatureError(f"{path} is not an ed25519 key; {MAKE_ONE}")
    return key


def load_public(path: Path) -> Ed25519PublicKey:
    """Load a public key."""
    try:
        key = serialization.load_pem_public_key(_content(path))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise SignatureError(f"{path} is not a public key; {MAKE_ONE} and take its .pub") from error
    if not isinstance(key, Ed25519PublicKey):
        raise SignatureError(f"{path} is not an ed25519 key; {MAKE_ONE} and take its .pub")
    return key


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SignatureError(f"cannot read the key {path}: {error.strerror}") from error


def ring(folder: Path) -> dict[str, tuple[str, Ed25519PublicKey]]:
    """The key ring of all `NAME.pub` in a folder: identifier -> the key's name and the key."""
    if not folder.is_dir():
        raise SignatureError(f"there is no key ring {folder}; make the folder and put keys into it")
    found = {}
    for path in sorted(folder.glob(f"*{PUBLIC_SUFFIX}")):
        key = load_public(path)
        found[identifier(key)] = (path.stem, key)
    return found


def sign(private: Ed25519PrivateKey, content: bytes) -> bytes:
    """The signature's line for `content`."""
    return Signature(identifier(private.public_key()), private.sign(content)).line()


def holds(public: Ed25519PublicKey, signature: Signature, content: bytes) -> bool:
    """Whether this key made the signature of `content`."""
    try:
        public.verify(signature.value, content)
    except InvalidSignature:
        return False
    return True
