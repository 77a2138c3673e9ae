"""The window: the only room that imports Qt and pyqtgraph.

It draws and asks; every file, module and number is behind the client.
"""
