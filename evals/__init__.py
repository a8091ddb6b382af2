"""What Citewell is measured by: data sets, metrics and fits, over the graph as it runs, without HTTP."""
