import {waitOf, type Engine, type WaitingCall} from './snapshot';

// Engines that wait in the same call, and those of their world that are not in it.
export interface Meeting {
  call: string;
  group: string;
  kind: 'MPI'|'torch';
  waiting: Engine[];
  missing: Engine[];  // empty: who belongs to the group is not known
  peers: number[];    // ranks that are waited for by name
  longest: number;
}

function keyOf(engine: Engine, wait: WaitingCall, kind: string): string {
  // A receive from one peer is a wait of its own; ranks of a collective call meet.
  const peer = wait.peer === undefined ? '' : `${engine.id} ${wait.peer}`;
  return [engine.world, kind, wait.call, wait.group, wait.count, peer].join('\n');
}

// Who waits in which call for whom, the longest first.
export function meetingsOf(engines: Engine[]): Meeting[] {
  const meetings = new Map<string, Meeting>();
  for (const engine of engines) {
    const wait = waitOf(engine);
    if (!wait) continue;
    const kind = engine.mpi ? 'MPI' : 'torch';
    const key = keyOf(engine, wait, kind);
    let meeting = meetings.get(key);
    if (!meeting) {
      meeting = {
        call: wait.call,
        group: wait.group ?? '',
        kind,
        waiting: [],
        missing: [],
        peers: [],
        longest: 0
      };
      meetings.set(key, meeting);
    }
    meeting.waiting.push(engine);
    meeting.longest = Math.max(meeting.longest, wait.seconds ?? 0);
    if (typeof wait.peer === 'number') meeting.peers.push(wait.peer);
  }
  for (const meeting of meetings.values()) findMissing(meeting, engines);
  return [...meetings.values()].sort((a, b) => b.longest - a.longest);
}

function findMissing(meeting: Meeting, engines: Engine[]): void {
  const [first] = meeting.waiting;
  const world = engines.filter(each => each.world === first.world && each.world);
  if (meeting.peers.length > 0) {
    meeting.missing =
        world.filter(each => each.rank !== undefined && meeting.peers.includes(each.rank));
    return;
  }
  // Only a group of the whole world says who belongs to it.
  if (waitOf(first)?.size !== world.length) return;
  const there = new Set(meeting.waiting.map(each => each.id));
  meeting.missing = world.filter(each => !there.has(each.id));
}
