"""What a person can do, as small functions by topic.

Each starts one request, names it for a person where it is long, and leaves what to
do with the answer to the caller. Window's thread; no widgets beyond file dialogs.
"""
