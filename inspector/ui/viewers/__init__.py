"""What the details panel shows of a node: statistics, picture, numbers, text.

Each viewer is a `viewer.Viewer`; `catalogue` lists them, `registry` says which suit a
node. They ask the store for what they show, on the window's thread, without waiting.

Plots are pyqtgraph's, imported on a thread and made in steps (`histogram_plot`). The
picture of an array is painted here: a cell is a cell at every zoom, NaN and Inf have
colours of their own, and the keyboard moves a cursor from cell to cell.
"""
