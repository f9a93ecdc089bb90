"""The parts of `nn-choose-layout`: candidates, costs, the problem over the graph, its solution."""
