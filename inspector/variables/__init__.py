"""Plain types of variable trees: paths, leaves, values, trees, edits, plans.

Every room and every process may import this package, the model engine on the
person's interpreter included; so it needs numpy and ml_dtypes at most, and never
JAX, Qt or a format library.
"""
