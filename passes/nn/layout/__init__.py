"""The parts of `nn-choose`: candidates, costs, the problem over the graph, its solution."""
