"""Parcels as the front desk sees them."""

import hashlib
import subprocess


def print_label(printer: str, parcel: str) -> None:
    subprocess.run(["lp", "-d", printer, "--", f"labels/{parcel}.pdf"], check=True)


def hash_password(password: str, salt: bytes) -> str:
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1).hex()
