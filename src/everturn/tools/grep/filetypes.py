"""Names of file types and the files that belong to them: the common part of what ripgrep knows."""

from fnmatch import fnmatchcase

TYPES: dict[str, tuple[str, ...]] = {
    "c": ("*.c", "*.C", "*.h", "*.H", "*.cats"),
    "cpp": ("*.cpp", "*.cc", "*.cxx", "*.hpp", "*.hh", "*.hxx", "*.h", "*.C", "*.H", "*.inl"),
    "cs": ("*.cs",),
    "css": ("*.css", "*.scss"),
    "csv": ("*.csv",),
    "dart": ("*.dart",),
    "elixir": ("*.ex", "*.eex", "*.exs"),
    "erlang": ("*.erl", "*.hrl"),
    "go": ("*.go",),
    "haskell": ("*.hs", "*.lhs", "*.cpphs", "*.c2hs", "*.hsc"),
    "html": ("*.htm", "*.html", "*.ejs"),
    "java": ("*.java", "*.jsp", "*.jspx", "*.properties"),
    "js": ("*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"),
    "json": ("*.json", "composer.lock"),
    "kotlin": ("*.kt", "*.kts"),
    "lua": ("*.lua",),
    "md": ("*.markdown", "*.md", "*.mdown", "*.mkdn", "*.mkd", "*.mdwn", "*.mdx"),
    "php": ("*.php", "*.php3", "*.php4", "*.php5", "*.phtml"),
    "py": ("*.py", "*.pyi"),
    "ruby": ("*.rb", "*.gemspec", "*.rbw", "config.ru", "Gemfile", "Rakefile", ".irbrc"),
    "rust": ("*.rs",),
    "scala": ("*.scala", "*.sbt"),
    "sql": ("*.sql", "*.psql"),
    "swift": ("*.swift",),
    "toml": ("*.toml", "Cargo.lock"),
    "ts": ("*.ts", "*.tsx", "*.cts", "*.mts"),
    "txt": ("*.txt",),
    "xml": ("*.xml", "*.xml.dist", "*.dtd", "*.xsl", "*.xslt", "*.xsd", "*.xjb", "*.rng", "*.sch", "*.xhtml"),
    "yaml": ("*.yaml", "*.yml"),
}


def is_of_type(kind: str, path: str) -> bool:
    """Raises `KeyError` for a type that is not in the list."""
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, pattern) for pattern in TYPES[kind])
