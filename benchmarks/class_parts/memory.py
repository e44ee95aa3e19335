"""What the processes of a hub hold: each learner's server and kernel, and the hub's own."""

import statistics

import psutil

SERVER, KERNEL = "learner.py", "ipykernel_launcher"


def of_class(hub):
    """Measure everything that a hub has started.

    Parameters
    ----------
    hub : int
        The process.

    Returns
    -------
    dict
        In MB: ``pss`` and ``uss`` a learner, ``parts`` of the server and of the kernel, and what
        the ``hub`` with its helpers takes. PSS counts what processes share once among them all.
    """
    servers, kernels, others = [], [], []
    root = psutil.Process(hub)
    for process in [root, *root.children(recursive=True)]:
        command = " ".join(process.cmdline())
        kind = servers if SERVER in command else kernels if KERNEL in command else others
        kind.append(process.memory_full_info())
    parts = {"server": _mean(servers), "kernel": _mean(kernels)}
    return {
        "pss": sum(part["pss"] for part in parts.values()),
        "uss": sum(part["uss"] for part in parts.values()),
        "parts": parts,
        "hub": sum(each.pss for each in others) / 1e6,
    }


def _mean(several):
    return {
        name: statistics.mean(getattr(each, name) for each in several) / 1e6
        for name in ("pss", "uss")
    }
