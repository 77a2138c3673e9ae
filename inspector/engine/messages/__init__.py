"""Everything that crosses a pipe, written down before the code that sends it.

Every message is a frozen dataclass of plain types (numbers, text, bytes, tuples,
other messages). Who sends what:

* `envelope`: Request, Reply, Failure, Progress, Cancel, Event. Both ends of every
  pipe.
* `document`: window or command line -> store, about sources, target and history.
* `viewing`: window or command line -> store, about rows, numbers and plans.
* `reading`: store -> reader, about foreign files.
* `module`: store -> model, about the person's modules.
* `calling`, `running`, `inspecting`: about calls of a module. What the window asks, the
  store passes on to the model with the module and the variables added.

A request carries an id chosen by its sender; Progress (at most ten a second) and
one Reply or Failure answer it. Cancel names the id; the answer is then a Failure of
kind ``"CancelledError"``. Events go from store to window unasked. Sizes are in
bytes, times in seconds, paths are tuples of keys, files are absolute paths of the
engine's machine. No message to the window is larger than 256 KiB.
"""
