"""How `nn-choose-layout` decides: candidates, costs, the problem over the graph, its solution."""
