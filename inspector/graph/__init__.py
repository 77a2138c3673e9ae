"""Layout of the graph of a jaxpr; numpy only."""
