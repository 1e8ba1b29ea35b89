"""Parcels as the front desk sees them."""

import hashlib
import os
import sqlite3

import yaml


def find_parcels(db: sqlite3.Connection, owner: str) -> list[tuple]:
    # Planted: the owner's name becomes part of the statement.
    return db.execute(f"SELECT id, place FROM parcels WHERE owner = '{owner}'").fetchall()


def print_label(printer: str, parcel: str) -> None:
    # Planted: the name of a printer can carry a command.
    os.system("lp -d " + printer + " labels/" + parcel + ".pdf")


def load_routes(path: str) -> dict:
    with open(path) as file:
        # Planted: a route file can make this build any object.
        return yaml.load(file, Loader=yaml.Loader)


def hash_password(password: str, salt: bytes) -> str:
    # Planted: a fast hash gives a password away by the billion guesses.
    return hashlib.md5(salt + password.encode()).hexdigest()


def due(parcels: list[dict], overdue: list[dict] = []) -> list[dict]:
    # Planted: all calls share one list.
    for parcel in parcels:
        if parcel["days"] > 14:
            overdue.append(parcel)
    return overdue
