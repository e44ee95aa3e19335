"""What a hub runs for a learner, as that learner: own copies, limits, then the Jupyter server.

The same file starts servers on one machine and, inside an image, on Kubernetes. It runs with the
learner's rights and none of the hub's, so that a trap in somebody's home catches nobody else.
"""

import os
import resource
import sys
import tempfile
from pathlib import Path

import copies

HERE = Path(__file__).resolve().parent
FOLDER = "attnlib"
"""The learner's folder in their home; chapters stand in its folder ``notebooks``, as in a clone."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def source():
    """Return where the chapters come from."""
    return Path(os.environ.get("HUB_NOTEBOOKS") or HERE.parents[1] / "notebooks")


def own():
    """Return where this learner's chapters stand."""
    return Path.home() / FOLDER / "notebooks"


def prepare():
    """Close the learner's files to others, set the limits, and bring the chapters."""
    os.umask(0o077)
    limit_memory(os.environ.get("MEM_LIMIT"))
    for name in THREADS:
        # As many as the hub grants, and one if it grants a part of a processor.
        os.environ.setdefault(name, str(max(1, int(float(os.environ.get("CPU_LIMIT") or 1)))))
    folder = own()
    copies.bring(source(), folder)
    folder.parent.chmod(0o700)
    programs = [str(Path(sys.executable).parent), str(HERE / "bin"), os.environ.get("PATH", "")]
    os.environ["PATH"] = os.pathsep.join(filter(None, programs))
    settings = [str(HERE / "singleuser"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, settings))


def limit_memory(limit):
    """Let no process of this learner's hold more data than this many bytes.

    The system refuses memory beyond it, so that Python raises MemoryError and the kernel lives on.
    It counts each process by itself; only a container or a cgroup counts a learner whole.
    """
    if limit:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = int(limit) if most == resource.RLIM_INFINITY else min(int(limit), most)
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, wanted))


def main(arguments):
    """Prepare, and become the learner's Jupyter server."""
    try:
        prepare()
    except OSError as error:
        sys.exit(f"{Path.home() / FOLDER} could not be prepared: {error}")
    # Only checks that a web address may hold letters beyond ASCII; jsonschema does without it where
    # it isn't installed, and its grammar takes 17 MB in every learner's server.
    sys.modules["rfc3987_syntax"] = None
    # Kernels' sockets stand here. The system allows 107 letters for the whole name of one, and a
    # home's own name may be long.
    with tempfile.TemporaryDirectory(prefix="attnlib-") as run:
        os.environ["JUPYTER_RUNTIME_DIR"] = run
        from jupyterhub.singleuser import main as serve

        serve(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
