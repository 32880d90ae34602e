"""Jupyter notebooks: read into cells, and changed cell by cell."""
