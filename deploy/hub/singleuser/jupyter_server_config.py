"""Each learner's Jupyter server: private kernels, no idle ones, and nothing loaded in vain."""

c = get_config()  # noqa: F821

# Ports on loopback are open to every account of a machine, and what a kernel publishes is not
# locked. Sockets in a folder of the learner's own are.
c.KernelManager.transport = "ipc"

# An hour without anything run or moved, an open tab or not; the notebook itself is saved.
c.MappingKernelManager.cull_idle_timeout = 3600
c.MappingKernelManager.cull_interval = 300
c.MappingKernelManager.cull_connected = True

# A chapter needs none of these, and each costs memory in every learner's server.
c.ServerApp.jpserver_extensions = {
    "jupyter_lsp": False,
    "notebook": False,
    "notebook_shim": False,
    "voila.server_extension": False,
}
c.LabApp.extension_manager = "readonly"
