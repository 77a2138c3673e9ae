"""What the details panel shows of a node: statistics, picture, numbers, text.

Each viewer is a `viewer.Viewer`; `registry` lists them with how well they suit a
node. They ask the store for what they show, on the window's thread, without waiting.

Histogram and picture are painted here and not with pyqtgraph: making and painting
its plot and its image took 58 to 82 ms (import on a thread after the first paint:
stalls of 13 ms at most), where the first click on a leaf has 50 ms for everything.
With our own the longest step of the whole first click took 10 to 27 ms, on a busier
machine.
"""
