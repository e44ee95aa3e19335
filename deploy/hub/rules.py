"""What a hub is told when it starts, and what it refuses: nobody is let in by mistake."""

import contextlib
import ipaddress
import os
import socket
import stat
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROXY = HERE / "node_modules" / ".bin" / "configurable-http-proxy"

SIGN_INS = ("pam", "dummy")
DUMMY_WARNING = (
    "Only for trying out: any name with any password signs in, and whoever signs in can read what "
    "all others wrote. For a class, start the hub without HUB_SIGN_IN=dummy."
)
AFRESH = (
    "To start a chapter afresh: close its tab, open File > New > Terminal, and type "
    "<code>afresh 05</code> for chapter 5. What you wrote is kept beside it, under a name with "
    "the time."
)


class RefusalError(ValueError):
    """Why a hub does not start, in words for who started it."""


@dataclass(frozen=True)
class Settings:
    """One hub, as its environment describes it.

    Parameters
    ----------
    ip, port : str, int
        Where browsers find it; the proxy's and the hub's own ports are the next two, on loopback.
    sign_in : {"pam", "dummy"}
        Accounts of this machine, or anybody.
    group : str
        With PAM, the group whose members may sign in; everybody with an account if empty.
    notebooks, state : Path
        What learners get copies of; what the hub must remember.
    certificate, key : str
        Files for TLS, both or neither.
    """

    ip: str
    port: int
    sign_in: str
    group: str
    notebooks: Path
    state: Path
    certificate: str
    key: str

    @classmethod
    def told(cls, environ=os.environ):
        """Read the settings from variables whose names begin with ``HUB_``.

        Raises
        ------
        RefusalError
            A value that can't be meant.
        """
        here = cls(
            ip=environ.get("HUB_IP") or "127.0.0.1",
            port=_port(environ.get("HUB_PORT") or "8898"),
            sign_in=environ.get("HUB_SIGN_IN") or "pam",
            group=environ.get("HUB_GROUP", ""),
            notebooks=Path(environ.get("HUB_NOTEBOOKS") or ROOT / "notebooks").resolve(),
            state=Path(environ.get("HUB_STATE") or HERE / "state").resolve(),
            certificate=environ.get("HUB_CERTIFICATE", ""),
            key=environ.get("HUB_KEY", ""),
        )
        if here.sign_in not in SIGN_INS:
            expected = ", ".join(SIGN_INS)
            raise RefusalError(f"HUB_SIGN_IN is {here.sign_in!r}; expected one of {expected}")
        if not any(here.notebooks.glob("*.ipynb")):
            raise RefusalError(f"HUB_NOTEBOOKS is {here.notebooks}: there is no notebook in it")
        return here

    def refuse_what_is_unsafe(self, user=None, allow_root=False):
        """Refuse a dummy sign-in that others could reach, and passwords sent in clear.

        Parameters
        ----------
        user : int, optional
            Who starts the hub; by default whoever runs this.
        allow_root : bool
            Whether a dummy sign-in may lend out root's own rights.

        Raises
        ------
        RefusalError
            What is unsafe, and the mend.
        """
        user = os.geteuid() if user is None else user
        inside = is_loopback(self.ip)
        if self.sign_in == "dummy" and not inside:
            raise RefusalError(
                f"HUB_SIGN_IN=dummy lets anybody in, so it is for loopback only, and HUB_IP is "
                f"{self.ip}. Leave HUB_IP out, or leave HUB_SIGN_IN out to sign in by PAM."
            )
        if self.sign_in == "dummy" and user == 0 and not allow_root:
            raise RefusalError(
                "HUB_SIGN_IN=dummy lets anybody in with the rights of who starts the hub, and that "
                "is root. Start it as another user; in a container of your own, where all is "
                "root's, HUB_ALLOW_ROOT=1 allows it."
            )
        if bool(self.certificate) != bool(self.key):
            raise RefusalError("HUB_CERTIFICATE and HUB_KEY go together: name both or neither")
        if not inside and not self.certificate:
            raise RefusalError(
                f"HUB_IP is {self.ip}, so passwords would cross the network in clear. Name the "
                "files of a certificate in HUB_CERTIFICATE and HUB_KEY; or leave HUB_IP out and "
                "let a web server on this machine, which has one, pass requests on to "
                f"127.0.0.1:{self.port}."
            )


def _port(text):
    if not text.isdecimal() or not 1024 <= int(text) <= 65533:
        raise RefusalError(
            f"HUB_PORT is {text!r}; expected a number from 1024 to 65533, with the next two free"
        )
    return int(text)


def is_loopback(ip):
    """Tell whether an address is this machine's own; an empty one means all of them."""
    try:
        return ip == "localhost" or ipaddress.ip_address(ip).is_loopback
    except ValueError:
        return False


def closed_to_others(*paths):
    """Find a folder that keeps other users from these paths.

    Returns
    -------
    Path or None
        The first that others can't enter, or a file that they can't read.
    """
    for path in (Path(each).resolve() for each in paths):
        for each in [*reversed(path.parents), path]:
            needed = stat.S_IXOTH if each.is_dir() else stat.S_IROTH
            if not each.stat().st_mode & needed:
                return each
    return None


def refuse_what_learners_cant_reach(*paths):
    """Refuse to start where learners' own accounts could not run Python or read the notebooks.

    Raises
    ------
    RefusalError
        Which folder is closed, and the mend.
    """
    closed = closed_to_others(*paths)
    if closed is not None:
        raise RefusalError(
            f"Learners run under their own accounts, and {closed} is closed to them. Put the clone "
            "where everybody may read, such as /opt/attnlib, and make its .venv with a Python "
            "outside of anybody's home: make install PYTHON=/usr/bin/python3"
        )


def refuse_without_proxy(proxy=PROXY):
    """Refuse to start where the proxy isn't installed.

    Raises
    ------
    RefusalError
        How to install it.
    """
    if not proxy.exists():
        raise RefusalError(f"There is no {proxy}: `make hub` installs it by npm")


def refuse_taken_ports(ip, port):
    """Refuse to start where something listens already, perhaps this class's other hub.

    Raises
    ------
    RefusalError
        The port, and the mend.
    """
    wanted = [(ip, port), ("127.0.0.1", port + 1), ("127.0.0.1", port + 2)]
    for address, each in wanted:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with contextlib.closing(socket.socket(family)) as tried:
            # What has just ended leaves a port that can be used again.
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((address, each))
            except OSError as error:
                raise RefusalError(
                    f"It needs ports {port} to {port + 2}, and {address}:{each} can't be had "
                    f"({error.strerror}). Is a hub running? Choose others: HUB_PORT={port + 100}"
                ) from error
