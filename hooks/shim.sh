#!/bin/sh
# @MARK@
# Tells git-memory that this repository changed. It runs in the background with every descriptor redirected, so that
# a missing, failing or stuck program costs the git command nothing. `git memory hooks uninstall` takes it out.
event=@EVENT@
legacy=@LEGACY@
status=0
# The hook that stood here before comes first, with its arguments and its standard input.
if [ "$legacy" = yes ] && [ -x "$0.legacy" ] && [ -z "${GIT_MEMORY_HOOK_PROBE-}" ]; then
    "$0.legacy" "$@"
    status=$?
fi
[ "${GIT_MEMORY_HOOK-}" = 0 ] && exit "$status"
# The commits of a replay are no news; post-rewrite speaks for all of them. Looking here, while git still waits,
# sees the replay even when the background process comes too late to see it.
if [ "$event" = post-commit ]; then
    folder=${GIT_DIR:-.git}
    if [ -d "$folder/rebase-merge" ] || [ -d "$folder/rebase-apply" ] || [ -f "$folder/CHERRY_PICK_HEAD" ]; then
        exit "$status"
    fi
fi
{
    binary=@BINARY@
    [ -x "$binary" ] || binary=git-memory
    exec "$binary" hook "$event" "$@"
} </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
exit "$status"
