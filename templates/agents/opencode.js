// @MARK@
// Written by git-memory; `git memory agent uninstall opencode` takes it out.
//
// After each turn it starts a capture of the session in the background. It never waits, and it says nothing: what goes
// wrong stands in worker.log below the repository's `memory` folder. GIT_MEMORY_HOOK=0 switches it off.
import { spawn } from "node:child_process"

const program = @PROGRAM@

// One capture at a time: what happens meanwhile is taken by one more afterwards.
let running = false
let next

function capture(session_id, cwd, hook_event_name) {
  if (process.env.GIT_MEMORY_HOOK === "0" || !session_id) return
  if (running) {
    next = [session_id, cwd, hook_event_name]
    return
  }
  running = true
  const done = () => {
    if (!running) return
    running = false
    const waiting = next
    next = undefined
    if (waiting) capture(...waiting)
  }
  try {
    const stdio = ["pipe", "ignore", "ignore"]
    const child = spawn(program, ["capture", "--hook"], { cwd, detached: true, windowsHide: true, stdio })
    child.on("error", done)
    child.on("exit", done)
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ agent: "opencode", session_id, cwd, hook_event_name }))
    child.unref()
  } catch {
    done()
  }
}

const ends = ["session.idle", "session.execution.succeeded", "session.execution.failed", "session.execution.interrupted"]

export default {
  id: "git-memory",

  // OpenCode 1
  async server({ directory }) {
    return {
      async event({ event }) {
        if (event.type === "session.idle") capture(event.properties?.sessionID, directory, event.type)
      },
    }
  },

  // OpenCode 2
  setup(ctx) {
    const watch = async () => {
      for await (const event of ctx.event.subscribe()) {
        if (!ends.includes(event.type)) continue
        const sessionID = event.data?.sessionID
        const session = await Promise.resolve(ctx.session?.get?.({ sessionID })).catch(() => undefined)
        const folder = session?.location?.directory ?? session?.directory ?? event.location?.directory
        capture(sessionID, folder ?? process.cwd(), event.type)
      }
    }
    watch().catch(() => {})
  },
}
