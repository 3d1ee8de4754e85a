// The stacks of many engines, equal ones once: the rule of client/stacks/stack_merger.cpp. Engines
// answer as docs/protocol.md says ("Stacks").

export interface Frame {
  kind: string;  // "native", "python", "cell"
  function?: string;
  file?: string;
  line?: number;
  offset?: number;
}

export interface Thread {
  name?: string;
  main?: boolean;
  why?: string;  // why there are no frames
  frames?: Frame[];
}

export interface Call {
  call: string;
  seconds?: number;
  peer?: number|'any';
  is_inside?: boolean;
}

export interface EngineStacks {
  engine: number;
  why?: string;  // in place of all else
  running?: {what?: string; seconds?: number};
  place?: {holds_lock?: boolean; mpi?: Call | null; torch?: Call | null};
  stacks?: {why?: string; threads?: Thread[]};
}

// Threads, of one engine or of several, that are in the same lines and have called the same native
// function.
export interface Group {
  engines: EngineStacks[];
  state: string;    // "busy", "idle", "no answer", "unknown"
  why: string;      // why there are no frames
  frames: Frame[];  // innermost first: those that all of them share
  goesOn: boolean;  // the innermost has called further functions, not the same in all
  threads: number;
}

export interface MergedStacks {
  main: Group[];       // of main threads: each engine is in one of these
  others: Group[];     // of other threads that run code in Python or cells
  libraries: Group[];  // of other threads
}

export function isOfCell(frame: Frame): boolean {
  const file = frame.file ?? '';
  return frame.kind === 'cell' ||
      (frame.kind === 'python' &&
       (file.startsWith('<ipython-input-') || file.startsWith('<function ') ||
        file.includes('ipykernel_')));
}

// Without the calls of the engine that lead to the user's code.
export function framesOfUser(frames: Frame[]): Frame[] {
  const outermost = frames.map(isOfCell).lastIndexOf(true);
  if (outermost >= 0) return frames.slice(0, outermost + 1);
  const ours = frames.findIndex(
      each => each.kind === 'python' && (each.file ?? '').includes('/polyxeus/engine/'));
  return ours < 0 ? frames : frames.slice(0, ours);
}

function comparedFrames(frames: Frame[]): Frame[] {
  const first = frames.findIndex(each => each.kind !== 'native');
  return frames.slice(Math.max(0, first - 1));
}

// Unnamed functions of a file are told apart by nothing.
function keyOf(frame: Frame): string {
  return JSON.stringify([frame.kind, frame.function, frame.file, frame.line]);
}

class Groups {
  private groups = new Map<string, Group>();

  add(engine: EngineStacks, state: string, why: string, frames: Frame[]): void {
    const key = [state, why, ...comparedFrames(frames).map(keyOf)].join('\n');
    const group = this.groups.get(key);
    if (!group) {
      this.groups.set(key, {engines: [engine], state, why, frames, goesOn: false, threads: 1});
      return;
    }
    group.threads += 1;
    if (group.engines[group.engines.length - 1] !== engine) group.engines.push(engine);
    keepCommon(group, frames);
  }

  // The fewest engines first.
  take(): Group[] {
    return [...this.groups.values()].sort((a, b) => a.engines.length - b.engines.length);
  }
}

// From the outermost call on, as far as they are the same.
function keepCommon(group: Group, frames: Frame[]): void {
  const ours = [...group.frames].reverse();
  const theirs = [...frames].reverse();
  let same = 0;
  while (same < ours.length && same < theirs.length && keyOf(ours[same]) === keyOf(theirs[same])) {
    same += 1;
  }
  group.goesOn = group.goesOn || same < ours.length || same < theirs.length;
  group.frames = group.frames.slice(group.frames.length - same);
}

function stateOf(engine: EngineStacks): string {
  if (!engine.place) return engine.why ? 'unknown' : 'no answer';
  return engine.running && Object.keys(engine.running).length > 0 ? 'busy' : 'idle';
}

function addMain(groups: Groups, engine: EngineStacks): void {
  const state = stateOf(engine);
  if (state !== 'busy') return groups.add(engine, state, engine.why ?? '', []);
  const main = engine.stacks?.threads?.find(each => each.main);
  if (main) return groups.add(engine, state, main.why ?? '', framesOfUser(main.frames ?? []));
  const why = engine.stacks ? engine.stacks.why ?? 'its main thread has ended' :
                              'it cannot report stacks, like engines of earlier versions';
  groups.add(engine, state, why, []);
}

export function mergeStacks(engines: EngineStacks[]): MergedStacks {
  const [main, others, libraries] = [new Groups(), new Groups(), new Groups()];
  for (const engine of engines) {
    addMain(main, engine);
    for (const thread of engine.stacks?.threads ?? []) {
      if (thread.main) continue;
      const frames = framesOfUser(thread.frames ?? []);
      const isLibrary = frames.every(each => each.kind === 'native');
      (isLibrary ? libraries : others).add(engine, 'busy', thread.why ?? '', frames);
    }
  }
  return {main: main.take(), others: others.take(), libraries: libraries.take()};
}

function baseName(path: string): string { return path.slice(path.lastIndexOf('/') + 1); }

// What is called, and where that is. `cell`: the file of the cell that runs.
export function textOfFrame(frame: Frame, cell?: string): [string, string] {
  const file = frame.file ?? '';
  if (frame.kind === 'cell') {
    return [frame.function ?? '<statement>', frame.line ? `${file} line ${frame.line}` : file];
  }
  if (frame.kind === 'python') {
    if (!isOfCell(frame)) return [frame.function ?? '', `${baseName(file)}:${frame.line}`];
    return [
      frame.function ?? '',
      file === cell ? `cell line ${frame.line}` : `line ${frame.line} of an earlier cell`
    ];
  }
  if (frame.function) return [frame.function, baseName(file)];
  if (!file) return ['code compiled at run time', ''];
  return [`${baseName(file)}+0x${(frame.offset ?? 0).toString(16)}`, ''];
}
