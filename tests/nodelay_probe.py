"""A server extension for one test: it tells whether the kernel websockets wait."""

import socket

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado.web import RequestHandler


class NodelayHandler(RequestHandler):
    """TCP_NODELAY of the server's end of every open kernel websocket."""

    def get(self):
        streams = [
            connection.websocket_handler.ws_connection.stream
            for connection in ZMQChannelsWebsocketConnection._open_sockets
        ]
        set_on = [
            bool(stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            for stream in streams
        ]
        self.write({"nodelay": set_on})


def _load_jupyter_server_extension(server):
    server.web_app.add_handlers(".*$", [("/nodelay", NodelayHandler)])
