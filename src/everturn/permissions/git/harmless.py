"""Settings of git that make a command which only reads run nothing, fetch nothing and leave the repository in no way.

Git knows some eight hundred settings and gets more with each version, and extensions of editors add theirs; so this is a list
of what may stand in a repository's own configuration, and every setting that is not in it is asked about. The measure is
git-config(1). Names are in small letters, as git compares them; `*` stands for a subsection, whatever its name.
"""

from collections.abc import Iterator, Mapping

from everturn.core.git_config import Setting
from everturn.core.patterns import compile_late

_FREE: Mapping[str, str] = {
    # How files and objects are stored, compared and cached. Left out are paths (attributesFile, excludesFile, hooksPath,
    # worktree), programs (fsmonitor, pager, editor, askPass, sshCommand, gitProxy, alternateRefsCommand), and the unknown.
    "core": (
        "abbrev autocrlf bare bigfilethreshold checkroundtripencoding checkstat commentchar commentstring commitgraph "
        "compression createobject deltabasecachelimit disambiguate eol filemode filesreflocktimeout fscache "
        "fsmonitorhookversion fsync fsyncmethod fsyncobjectfiles hidedotfiles ignorecase ignorestat logallrefupdates longpaths "
        "loosecompression maxtreedepth multipackindex notesref packedgitlimit packedgitwindowsize packedrefstimeout "
        "precomposeunicode prefersymlinkrefs preloadindex protecthfs protectntfs quotepath safecrlf sharedrepository "
        "sparsecheckout sparsecheckoutcone splitindex symlinks trustctime untrackedcache usereplacerefs "
        "warnambiguousrefs whitespace"
    ),
    "index": "recordendofindexentries recordoffsettable skiphash sparse threads version",
    "splitindex": "maxpercentchange sharedindexexpire",
    "sparse": "expectfilesoutsideofpatterns",
    "commitgraph": "changedpathsversion generationversion maxnewfilters readchangedpaths",
    "feature": "experimental manyfiles",
    # Where a fetch or a push would go. Reading does neither, unless objects are missing and a remote promises them: then it
    # fetches, with all that a transport may run. So `promisor` and `partialCloneFilter` are left out, as are `vcs`,
    # `uploadpack` and `receivepack`, which name programs. `gh-resolved` is written by GitHub's program.
    "remote": "pushdefault",
    "remote.*": "fetch followremotehead gh-resolved mirror prune prunetags push pushurl skipdefaultupdate skipfetchall tagopt url",
    "fetch": (
        "all fsckobjects negotiationalgorithm output parallel prune prunetags recursesubmodules showforcedupdates unpacklimit "
        "writecommitgraph"
    ),
    "push": (
        "autosetupremote default followtags gpgsign negotiate pushoption recursesubmodules usebitmaps useforceifincludes"
    ),
    "pull": "ff octopus rebase twohead",
    "transfer": "advertisesid credentialsinurl fsckobjects hiderefs unpacklimit",
    "receive": (
        "advertiseatomic advertisepushoptions autogc denycurrentbranch denydeletecurrent denydeletes denynonfastforwards "
        "fsckobjects hiderefs keepalive maxinputsize shallowupdate unpacklimit updateserverinfo"
    ),
    "uploadpack": (
        "allowanysha1inwant allowfilter allowreachablesha1inwant allowrefinwant allowtipsha1inwant hiderefs keepalive"
    ),
    "protocol": "version",
    "http": "extraheader lowspeedlimit lowspeedtime postbuffer sslverify version",
    "http.*": "extraheader lowspeedlimit lowspeedtime postbuffer sslverify version",
    "credential": "usehttppath username",
    "credential.*": "usehttppath username",
    # What a branch belongs to. The names with a dash are notes of GitHub's program and of editors, which git passes over.
    "branch": "autosetupmerge autosetuprebase",
    "branch.*": (
        "description gh-merge-base github-pr-owner-number gk-associated-issues gk-last-accessed gk-last-modified gk-merge-base "
        "gk-merge-target merge mergeoptions pushremote rebase remote vscode-merge-base"
    ),
    # Repositories inside this one: whether and where. Each that git would enter is looked at by itself.
    "submodule": "active alternateerrorstrategy fetchjobs propagatebranches",
    "submodule.*": "active branch fetchrecursesubmodules ignore path shallow url",
    # Names that commits get. Signing happens only when something is written, with a program that is named elsewhere.
    "user": "email name signingkey useconfigonly",
    "author": "email name",
    "committer": "email name",
    "commit": "cleanup gpgsign status verbose",
    "gpg": "format mintrustlevel",
    # How things are shown. Left out: files to read (diff.orderFile, mailmap.file), regular expressions, programs.
    "color": "*",
    "color.*": "*",
    "column": "*",
    "advice": "*",
    "diff": (
        "algorithm autorefreshindex colormoved colormovedws context dirstat dstprefix guitool ignoresubmodules indentheuristic "
        "interhunkcontext mnemonicprefix noprefix relative renamelimit renames srcprefix statgraphwidth statnamewidth "
        "suppressblankempty tool trustexitcode wserrorhighlight"
    ),
    "diff.*": "algorithm binary",
    "log": (
        "abbrevcommit date decorate excludedecoration follow graphcolors initialdecorationset mailmap showroot"
    ),
    "status": (
        "aheadbehind branch displaycommentprefix relativepaths renamelimit renames short showstash showuntrackedfiles"
    ),
    "stash": "showincludeuntracked showpatch showstat",
    "blame": "blankboundary coloring date markignoredlines markunblamablelines showemail showroot",
    "grep": "column extendedregexp fallbacktonoindex fullname linenumber patterntype",
    "mailmap": "blob",
    "notes": "displayref mergestrategy rewritemode rewriteref",
    "notes.*": "mergestrategy",
    "i18n": "commitencoding logoutputencoding",
    "versionsort": "prereleasesuffix suffix",
    "gui": "*",
    # Only commands that write look at these, and none of them names a program.
    "add": "ignoreerrors",
    "am": "keepcr threeway",
    "apply": "ignorewhitespace whitespace",
    "checkout": "defaultremote guess thresholdforparallelism workers",
    "clean": "requireforce",
    "difftool": "prompt trustexitcode",
    "gc": (
        "aggressivedepth aggressivewindow auto autodetach autopacklimit bigpackthreshold cruftpacks logexpiry maxcruftsize "
        "packrefs pruneexpire reflogexpire reflogexpireunreachable rerereresolved rerereunresolved worktreepruneexpire "
        "writecommitgraph"
    ),
    "gc.*": "reflogexpire reflogexpireunreachable",
    "init": "defaultbranch",
    "maintenance": "auto autodetach strategy",
    "maintenance.*": "auto enabled schedule",
    "merge": (
        "autostash branchdesc conflictstyle defaulttoupstream directoryrenames ff guitool log renamelimit renames renormalize "
        "stat suppressdest tool verbosity"
    ),
    "merge.*": "name recursive",
    "mergetool": "hideresolved keepbackup keeptemporaries prompt writetotemp",
    "pack": (
        "allowpackreuse compression deltacachelimit deltacachesize depth indexversion packsizelimit threads usebitmaps "
        "usesparse window windowmemory writebitmaphashcache writebitmaplookuptable writereverseindex"
    ),
    "rebase": (
        "abbreviatecommands autosquash autostash backend forkpoint missingcommitscheck rebasemerges reschedulefailedexec stat "
        "updaterefs"
    ),
    "repack": "packkeptobjects updateserverinfo usedeltabaseoffset writebitmaps",
    "rerere": "autoupdate enabled",
    "revert": "reference",
    "tag": "forcesignannotated gpgsign",
    "worktree": "guessremote userelativepaths",
    # Notes of other programs, which git passes over. Of git-lfs only what names no program and no server.
    "gitflow.*": "*",
    "lfs": "locksverify repositoryformatversion",
    "lfs.*": "access locksverify",
}  # fmt: skip

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0", ""})
_SWITCH = _TRUE | _FALSE
_ORDERS = frozenset({"refname", "objectname", "committerdate", "authordate", "creatordate", "taggerdate", "version:refname", "v:refname"})  # fmt: skip
"""Others can make git check signatures."""

_ONLY: Mapping[str, frozenset[str]] = {
    "core.repositoryformatversion": frozenset({"0", "1"}),
    # On, it starts a process that stays; and any other word is a program.
    "core.fsmonitor": frozenset({"false", ""}),
    # A later version of git may take an address here.
    "extensions.refstorage": frozenset({"files", "reftable"}),
    "extensions.objectformat": frozenset({"sha1", "sha256"}),
    "extensions.compatobjectformat": frozenset({"sha1", "sha256"}),
    "extensions.worktreeconfig": _SWITCH,
    "extensions.relativeworktrees": _SWITCH,
    "extensions.preciousobjects": _SWITCH,
    "extensions.noop": _SWITCH,
    # `log` and `diff` go into every repository that the history has ever named, with that one's settings.
    "diff.submodule": frozenset({"short"}),
    "status.submodulesummary": _FALSE,
    "submodule.recurse": _FALSE,
    # Else a command, behind an exclamation mark.
    "submodule.*.update": frozenset({"checkout", "rebase", "merge", "none"}),
    # Signatures are checked by a program, and a format can ask for it.
    "log.showsignature": _FALSE,
    "format.pretty": frozenset({"oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw"}),
    "branch.sort": _ORDERS | {f"-{order}" for order in _ORDERS},
    "tag.sort": _ORDERS | {f"-{order}" for order in _ORDERS},
    # `remerge` would merge again, with the drivers of the configuration.
    "log.diffmerges": frozenset({"off", "none", "on", "m", "separate", "first-parent", "1", "c", "combined", "cc", "dense-combined"}),
    # The usual way to say "keep ours" in .gitattributes.
    "merge.*.driver": frozenset({"true"}),
    **{f"pager.{command}": _SWITCH for command in ("blame", "branch", "config", "diff", "grep", "log", "reflog", "show", "stash", "status", "tag")},
}  # fmt: skip

_BELOW: frozenset[str] = frozenset({"blame.ignorerevsfile"})
"""Files that are read for what to leave out: harmless where they lie below the working tree."""
_PLAIN_PATH = compile_late(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")


def _spread() -> Iterator[str]:
    for section, names in _FREE.items():
        yield from (f"{section}.{name}" for name in names.split())


_ANY_VALUE = frozenset(_spread())


def is_harmless(setting: Setting) -> bool:
    """Whether this setting in a repository's own configuration changes nothing that matters for a command that only reads."""
    pattern = setting.pattern
    if (values := _ONLY.get(pattern)) is not None:
        value = "true" if setting.value is None else setting.value
        return value in values or (values <= _SWITCH and value.lower() in values)
    if pattern in _BELOW:
        path = setting.value or ""
        return _PLAIN_PATH.fullmatch(path) is not None and ".." not in path.split("/")
    section, _, _ = pattern.rpartition(".")
    return pattern in _ANY_VALUE or f"{section}.*" in _ANY_VALUE
