"""The only package that names concrete classes: one file per profile."""
