"""The instrument of `make bench`: one job a module; bench.py beside this folder is the way in."""
