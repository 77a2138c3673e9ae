"""The processes behind the window: messages, pipes, services, the client.

Nothing here imports Qt. `messages` and `codec` are plain types that every room may
import; each service lives in files of its own name.
"""
