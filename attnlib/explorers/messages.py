"""The browser's messages to a widget, kept apart from the cell that may be running beside them."""


def keep_apart_from_cells(*widgets):
    """Hand each message of the browser to its widget alone.

    The `comm` package wraps every message of a widget into IPython's hooks for cells. With
    JupyterLab 4.4 and ipykernel 7 that happens in another thread than the running cell's, and
    matplotlib's own hook then draws and closes the figures that the cell has not finished.

    Parameters
    ----------
    *widgets : ipywidgets.Widget
        Those that the browser sends anything to.
    """
    for widget in widgets:
        if widget.comm is not None:
            widget.comm.handle_msg = widget._handle_msg
