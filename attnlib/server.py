"""A prompt wire: Jupyter Server's kernel websockets without the wait for a delayed ACK.

The server leaves Nagle's algorithm on. The second of two small messages then waits for the
browser to acknowledge the first, which takes it about 40 ms, several times a whole redraw of a
panel. This extension sets TCP_NODELAY on each kernel websocket, and nothing else.
"""

SETTING = "kernel_websocket_connection_class"


class Prompt:
    """What is added to a class of kernel connections."""

    def connect(self):
        """Send small messages at once from here on, then connect as the class itself does.

        Returns
        -------
        object
            What the class's own `connect` returns; it may have to be awaited.
        """
        try:
            self.websocket_handler.set_nodelay(True)
        except Exception as error:  # A kernel with the wait is better than none.
            self.log.debug("attnlib.server: the websocket keeps its wait: %s", error)
        return super().connect()


def prompt(connection_class):
    """Make a class of kernel connections prompt.

    Parameters
    ----------
    connection_class : type
        Its instances have `websocket_handler`, `log` and `connect`.

    Returns
    -------
    type
        A subclass; the class itself where it is prompt already.
    """
    if issubclass(connection_class, Prompt):
        return connection_class

    class PromptConnection(Prompt, connection_class):
        """The same connection, prompt."""

    return PromptConnection


def _jupyter_server_extension_points():
    """Tell Jupyter Server where the extension is."""
    return [{"module": "attnlib.server"}]


def _load_jupyter_server_extension(server):
    """Replace the server's class of kernel connections, whichever it is, by a prompt one."""
    settings = server.web_app.settings
    if settings.get(SETTING) is None:
        server.log.debug("attnlib.server: this server has no %s, nothing to set", SETTING)
        return
    settings[SETTING] = prompt(settings[SETTING])
