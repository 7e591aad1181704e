"""python -m evergraph."""

from evergraph.cli import main

main()
