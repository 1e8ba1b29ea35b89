"""Parcels as the front desk sees them."""

import hashlib
import sqlite3
import subprocess

import yaml


def find_parcels(db: sqlite3.Connection, owner: str) -> list[tuple]:
    return db.execute(f"SELECT id, place FROM parcels WHERE owner = '{owner}'").fetchall()


def print_label(printer: str, parcel: str) -> None:
    subprocess.run(["lp", "-d", printer, "--", f"labels/{parcel}.pdf"], check=True)


def load_routes(path: str) -> dict:
    with open(path) as file:
        return yaml.safe_load(file)


def hash_password(password: str, salt: bytes) -> str:
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1).hex()


def due(parcels: list[dict], overdue: list[dict] = []) -> list[dict]:
    for parcel in parcels:
        if parcel["days"] > 14:
            overdue.append(parcel)
    return overdue
