"""Paths that are never written unasked: what is written there runs later, or changes what may run, or is a key. Data only.

Judgement (`permissions.paths.protected`) goes by these names for tools and for the words of commands, the sandbox
(`sandbox.places`) for what commands do.
"""

MEMORY = ("AGENTS.md", "CLAUDE.md")
"""The model takes what they say for the user's word."""
AGENT_SETTINGS = (".claude", ".everturn", ".mcp.json")
"""Names of files and folders that configure an agent: a command that writes them could run anything in the next session."""
FREE = ((".claude", "worktrees"),)
"""Folders of work inside a protected one."""
GIT = ".git"
GIT_HEAD = "HEAD"
"""The file without which no folder is a repository, whatever the folder is called."""
GIT_HOOKS = (
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
    "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
    "proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc",
    "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change",
)  # fmt: skip
"""What git runs by itself where they stand in its folder of hooks."""

FOLDERS = (
    GIT, ".claude", ".everturn", ".cursor", ".codex", ".gemini", ".windsurf", ".continue",
    ".vscode", ".idea", ".zed", ".fleet", ".helix", ".husky", ".devcontainer", ".cargo", ".yarn", ".mvn", ".bundle",
    ".hg", ".jj", ".sl", ".direnv", "sitecustomize", "usercustomize", ".opencode", ".kiro", ".amazonq", ".roo", ".qwen",
    ".clinerules", ".mise", ".vim",
)  # fmt: skip
"""Names that are protected at any depth, with everything below them."""
FOLDER_PAIRS = (
    (".config", "git"), (".config", "mise"), (".config", "mise.toml"), ("mise", "config.toml"), ("tools", "bazel"),
    (".github", "copilot-instructions.md"),
)  # fmt: skip
"""The same, of two names; some are files."""
PATTERNS = (
    "sitecustomize.*", "usercustomize.*", "site-packages/*.pth", "dist-packages/*.pth", "*.code-workspace",
)  # fmt: skip
"""Files at any depth, by a part of their names: Python starts a module whatever it was made of, and what `*.pth` says, where packages are."""
ENVIRONMENT = "pyvenv.cfg"
"""The file that makes a folder a virtual environment of Python, whatever the folder is called: what lies in it is started."""

START_UP = (
    ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".bash_logout", ".bash_completion",
    ".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".xonshrc",
    ".gitconfig", ".npmrc",
)  # fmt: skip
"""Files at any depth that a shell, git or npm reads by itself in the home of a person."""
TOOL_FILES = (
    # Settings of agents.
    ".mcp.json", ".claude.json", ".aider.conf.yml", "opencode.json", "opencode.jsonc", "crush.json", ".crush.json",
    "CLAUDE.local.md", "AGENTS.override.md", "GEMINI.md", "QWEN.md", ".goosehints", ".cursorrules",
    # Git, its hooks, and what runs when a folder is entered.
    ".gitmodules", ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml",
    "lefthook.toml", "lefthook.json", ".lefthook.toml", ".lefthook.json", "lefthook-local.yml", "lefthook-local.yaml",
    "lefthook-local.toml", "lefthook-local.json", ".lefthook-local.yml", ".lefthook-local.yaml", ".lefthook-local.toml",
    ".lefthook-local.json", ".envrc", ".autoenv", ".autoenv.zsh", "mise.toml", ".mise.toml", "mise.local.toml",
    ".mise.local.toml", ".rtx.toml",
    # Package managers and build tools.
    ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnp.loader.mjs", ".pnpmfile.cjs", ".pnpmfile.mjs", "bunfig.toml", ".bunfig.toml", ".bazelrc",
    ".bazelversion", ".bazeliskrc", "gradle-wrapper.properties", "maven-wrapper.properties", ".devcontainer.json",
    "rust-toolchain", "rust-toolchain.toml",
    # What Python reads when it starts.
    "sitecustomize.py", "usercustomize.py", ENVIRONMENT,
    # Editors, debuggers and interactive programs that read a file of the folder they are started in.
    ".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".dir-locals-2.el", ".gdbinit", ".lldbinit", ".pdbrc",
    ".irbrc", ".pryrc", ".Rprofile", ".Renviron", ".octaverc", ".ocamlinit", ".ghci", ".perldb",
    ".lvimrc", ".iex.exs", ".utoprc", "jupyter_server_config.py", "jupyter_notebook_config.py",
    # Others.
    ".ripgreprc", "pyrightconfig.json",
)  # fmt: skip
"""Files at any depth."""
FILES = (*START_UP, *TOOL_FILES)

HOME = (
    # Keys.
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".pypirc", ".config/gcloud",
    ".config/gh", ".password-store", ".local/share/keyrings",
    # What a login or the desktop starts by itself.
    ".config/autostart", ".config/autostart-scripts", ".config/systemd", ".local/share/systemd",
    ".config/environment.d", ".config/plasma-workspace", ".config/user-tmpfiles.d", ".local/share/user-tmpfiles.d",
    ".local/share/applications", ".local/share/dbus-1", ".crontab", ".pam_environment", ".xprofile", ".xsession",
    ".xsessionrc", ".xinitrc", ".xserverrc",
    # Programs and modules that are found by their names.
    "bin", ".bin", ".local/bin", ".local/lib", ".local/libexec",
    # Shells, Python, editors.
    ".config/fish", ".config/zsh", ".config/nushell", ".config/powershell", ".config/readline", ".config/direnv",
    ".inputrc", ".login", ".logout", ".config/pip", ".pip", ".pythonrc", ".pythonrc.py", ".pythonstartup", ".ipython",
    ".vim", ".config/nvim", ".emacs", ".emacs.d", ".config/emacs", ".nanorc",
    # Git, containers, agents.
    ".config/git", ".config/containers", ".config/everturn", ".config/claude",
)  # fmt: skip
"""From the home of the person, with everything below."""
HOME_TOOLS = (
    "Library/LaunchAgents", ".direnvrc", ".gemrc", ".condarc", ".gvimrc", ".gdbearlyinit", ".radare2rc", ".psqlrc",
    ".sqliterc", ".curlrc", ".wgetrc", ".screenrc", ".tmux.conf", ".mailcap", ".lessfilter",
    ".terraform.d", ".terraformrc", ".vault-token", ".config/op", ".config/rclone", ".config/hub", ".pki", ".mozilla",
    ".thunderbird", ".config/google-chrome", ".config/chromium",
    ".config/openbox", ".config/i3", ".i3", ".config/sway", ".config/hypr", ".config/awesome", ".config/bspwm",
    ".config/sxhkd", ".config/lxsession", ".config/xfce4", ".fluxbox", ".config/mimeapps.list", ".forward",
    ".procmailrc", ".fetchmailrc", ".msmtprc", ".muttrc", ".mutt",
    "go/bin", ".deno/bin", ".bun/bin", ".dotnet/tools", ".krew", ".pyenv", ".rbenv", ".nodenv", ".nvm", ".asdf",
    ".volta", ".sdkman", ".rustup", ".opam", ".ghcup", ".juliaup", ".nix-profile", ".local/share/mise",
    ".local/share/pnpm", ".local/share/fnm", ".local/share/bash-completion", ".local/share/nvim", ".config/mise",
    ".oh-my-zsh", ".bash_it", ".zsh", ".elvish", ".config/elvish", ".config/xonsh", ".config/starship.toml",
    ".jupyter", ".config/python", ".config/pypoetry", ".config/uv", ".conda", ".config/conda",
    ".config/vim", ".emacs.el", ".doom.d", ".config/doom", ".spacemacs", ".config/nano", ".config/helix",
    ".config/kak", ".config/micro", ".config/Code", ".config/VSCodium", ".vscode-server", ".config/zed",
    ".config/sublime-text", ".config/JetBrains", ".local/share/JetBrains", ".ideavimrc", ".config/gdb",
    ".config/radare2", ".guile", ".sbclrc", ".julia/config", ".my.cnf", ".mylogin.cnf", ".config/octave",
    ".config/npm", ".config/yarn", ".m2", ".gradle", ".sbt", ".lein", ".clojure", ".config/clojure", ".mavenrc", ".ant",
    ".hgrc", ".config/hg", ".subversion", ".rpmmacros", ".makepkg.conf", ".config/pacman", ".quiltrc", ".devscripts",
    ".ansible", ".ansible.cfg", ".config/tmux", ".config/kitty", ".config/alacritty", ".config/wezterm",
    ".wezterm.lua", ".config/ghostty", ".config/mpv", ".config/ranger", ".config/lf",
    ".config/github-copilot", ".config/opencode", ".config/goose", ".config/Claude",
    ".selected_editor", ".config/user-dirs.dirs", ".blerc", ".config/blesh", ".config/Cursor", ".config/polybar", ".config/waybar",
    ".config/rofi", ".config/dunst", ".config/pulse", ".config/qutebrowser", ".config/newsboat", ".newsboat", ".config/beets",
    ".npm-global", ".npm-packages", ".composer", ".config/composer", ".gem", ".cabal", ".poetry", ".pixi", ".rye", ".local/pipx",
    ".local/share/pipx", ".local/state/nix", ".nix-defexpr", ".config/nix", ".config/nixpkgs", ".config/home-manager",
)  # fmt: skip
"""The same, of programs that not every machine has: the sandbox leaves them as they are where they are there."""
